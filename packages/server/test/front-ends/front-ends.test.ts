// Every front end passes the one table.
import { describeFrontEnd } from "./table.ts";
import { FRONT_ENDS } from "./hosts.ts";

for (const frontEnd of FRONT_ENDS) describeFrontEnd(frontEnd);
