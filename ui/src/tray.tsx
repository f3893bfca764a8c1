import { mount } from "./app/Small";
import { Notice } from "./features/desk/Notice";
import { desk } from "./host/desk";

mount(<Notice leave={() => void desk.leave()} />);
