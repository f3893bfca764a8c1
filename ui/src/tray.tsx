import { mount } from "./app/SmallWindow";
import { Notice } from "./features/approval-window/Notice";
import { desk } from "./host/desk";

mount(<Notice leave={() => void desk.leave()} />);
