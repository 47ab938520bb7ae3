/** Answers that are kept, for questions that come back. */

/** Clients choose the questions, so beyond this number all are forgotten. */
const MAX_KEPT = 64;

/** The same function, which works out each of its last few answers once. What it throws is not kept. */
export function remembered<Answer>(
  answer: (question: string) => Answer,
): (question: string) => Answer {
  const known = new Map<string, Answer>();
  return (question) => {
    const kept = known.get(question);
    if (kept !== undefined) return kept;
    const made = answer(question);
    if (known.size === MAX_KEPT) known.clear();
    known.set(question, made);
    return made;
  };
}
