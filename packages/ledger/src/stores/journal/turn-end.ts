/** The end of a turn of the event loop, when everything that its sockets and timers brought has run. */

/** Calls back at the end of the turn. */
export type TurnEnd = (callback: () => void) => void;
