/** Why checking ends: the bundle is wrong, at this place. The first one thrown is the verdict. */
export class Stop extends Error {
  constructor(
    /** File, and line where there are lines. */
    readonly place: string,
    /** What is wrong there. */
    readonly why: string,
  ) {
    super(`invalid at ${place}: ${why}`);
    this.name = "Stop";
  }
}

/** Bytes or text that are not in the one form that is accepted. Whoever knows the place turns it into a {@link Stop}. */
export class Malformed extends Error {
  constructor(what: string, why: string) {
    super(`this is not a valid ${what}: ${why}`);
    this.name = "Malformed";
  }
}

/** Runs `read`; what it finds malformed is said of `place`. Anything else is a fault of this program and passes. */
export function at<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Malformed) throw new Stop(place, error.message);
    throw error;
  }
}
