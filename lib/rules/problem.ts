/** What AWS would refuse. */

/** What is wrong and what to write instead; undefined if nothing is. */
export type Problem = { readonly problem: string; readonly fix: string } | undefined;
