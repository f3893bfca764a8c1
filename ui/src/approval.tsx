import { mount } from "./app/Small";
import { DeskWindow } from "./features/desk/Desk";
import { desk } from "./host/desk";

mount(<DeskWindow desk={desk} />);
