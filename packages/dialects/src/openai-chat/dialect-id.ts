// The id under which this room registers itself.

/** Id of this dialect; IR objects name it as the source of what only this dialect has. */
export const OPENAI_CHAT = "openai-chat";
