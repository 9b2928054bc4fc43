/**
 * The exchanges that run now, so that a shutdown can end them. An array with a slot number in each member, and not a Set: a Set
 * under constant change leaves a chain of outgrown tables, each pointing to the next, and what one dead table in the old
 * generation still reaches survives every young collection. Measured at 64 in flight on Node 24: 15 MB survived a scavenge with
 * the Set (40 ms), 1.2 MB with the array (2 ms).
 */

/** What the list needs of a member: a place to note where it stands. `-1` = in no list. */
export interface RunningMember {
  runningSlot: number;
}

export class RunningList<Member extends RunningMember> {
  readonly #members: (Member | null)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a member that is in no list. */
  add(member: Member): void {
    member.runningSlot = this.#size;
    if (this.#size === this.#members.length) this.#members.push(member);
    else this.#members[this.#size] = member;
    this.#size += 1;
  }

  /** Removes a member; the last one takes its slot. Removing twice does nothing. */
  remove(member: Member): void {
    const slot = member.runningSlot;
    if (slot < 0) return;
    this.#size -= 1;
    const last = this.#members[this.#size] as Member;
    this.#members[slot] = last;
    last.runningSlot = slot;
    this.#members[this.#size] = null;
    member.runningSlot = -1;
  }

  /** The members of this moment; the list may change while they are gone through. */
  members(): readonly Member[] {
    return this.#members.slice(0, this.#size) as readonly Member[];
  }
}
