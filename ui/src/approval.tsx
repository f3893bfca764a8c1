import { mount } from "./app/SmallWindow";
import { ApprovalWindow } from "./features/approval-window/ApprovalWindow";
import { desk } from "./host/desk";

mount(<ApprovalWindow desk={desk} />);
