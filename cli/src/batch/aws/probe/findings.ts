/** What the outputs of a probe's job tell. */
import {
  ASSUMED_FACTS,
  kindsOf,
  MANIFEST_BYTES,
  type NameKind,
  OUTPUT_LAYOUTS,
  type OutputLayout,
  outputKey,
  type TransformFacts,
} from '@sagemaker-tfs/batch';
import type { ProbeKind, ProbeObject } from './objects.ts';

/** What a job was asked to do. */
export interface ProbeQuestion {
  /** Kinds of objects that its manifest names. */
  readonly kinds: readonly ProbeKind[];
  /** Bytes of the manifest. */
  readonly manifestBytes: number;
}

/** A valid manifest. */
const SHORT = 1024 ** 2;
const GOOD: readonly ProbeKind[] = ['plain', 'awkward'];
const SENT: readonly ProbeKind[] = [...GOOD, 'empty', 'large', 'bad'];

/** Everything in one job. If that makes no output, without what may be to blame, one thing after the other. */
export const QUESTIONS: readonly ProbeQuestion[] = [
  { kinds: [...SENT, 'deleted'], manifestBytes: MANIFEST_BYTES },
  { kinds: SENT, manifestBytes: MANIFEST_BYTES },
  { kinds: SENT, manifestBytes: SHORT },
  { kinds: GOOD, manifestBytes: SHORT },
];

/** Where outputs may lie, by the key of the input and the prefix of all inputs. */
const PLACES: Readonly<
  Record<Exclude<OutputLayout, 'unknown'>, (key: string, root: string) => string>
> = {
  key: (key) => outputKey(key),
  wholeKey: (key, root) => outputKey(root + key),
  name: (key) => outputKey(key.slice(key.lastIndexOf('/') + 1)),
};

/** What a job left. */
interface ProbeOutcome {
  readonly question: ProbeQuestion;
  /** Keys below the output prefix. */
  readonly outputs: readonly string[];
  /** Key of the prefix of the inputs. */
  readonly inputRoot: string;
  readonly startSeconds: number | undefined;
}

/** The facts that the first job with outputs shows. What an earlier one may have failed of is taken for guilty. */
export function factsOf(objects: readonly ProbeObject[], outcome: ProbeOutcome): TransformFacts {
  const { question, inputRoot, startSeconds } = outcome;
  const outputs = new Set(outcome.outputs);
  const layout = layoutOf(objects, outputs, inputRoot);
  const place = PLACES[layout === 'unknown' ? 'key' : layout];
  const has = ({ key }: ProbeObject) => outputs.has(place(key, inputRoot));
  const isAnswered = (kind: ProbeKind) => objects.some((one) => one.kind === kind && has(one));
  const lost = objects.filter((one) => one.kind === 'awkward' && !has(one));
  return {
    layout,
    lostNames: layout === 'unknown' ? [] : kindsOfLost(lost),
    manifestBytes: question.manifestBytes,
    deletedKeyStopsJob: !question.kinds.includes('deleted'),
    badInputStopsJob: !question.kinds.includes('bad'),
    emptyIsAnswered: isAnswered('empty'),
    largeIsAnswered: isAnswered('large'),
    ...(startSeconds !== undefined && { startSeconds }),
  };
}

function layoutOf(
  objects: readonly ProbeObject[],
  outputs: ReadonlySet<string>,
  inputRoot: string,
): OutputLayout {
  const plain = objects.filter(({ kind }) => kind === 'plain');
  const found = OUTPUT_LAYOUTS.find(
    (layout) =>
      layout !== 'unknown' && plain.every(({ key }) => outputs.has(PLACES[layout](key, inputRoot))),
  );
  return found ?? 'unknown';
}

/** Of names with one kind of character what they show; of mixed ones only if no other explains them. */
function kindsOfLost(lost: readonly ProbeObject[]): NameKind[] {
  const kinds = lost.map(({ key }) => kindsOf(key));
  const sure = new Set(kinds.filter(({ length }) => length === 1).flat());
  for (const several of kinds) {
    if (!several.some((kind) => sure.has(kind))) for (const kind of several) sure.add(kind);
  }
  return [...sure];
}

/** A fact in words. */
export interface Finding {
  readonly fact: string;
  readonly assumed: string;
  readonly found: string;
  readonly differs: boolean;
}

const LAYOUT_WORDS: Readonly<Record<OutputLayout, string>> = {
  key: 'under their keys below the input prefix',
  wholeKey: 'under their whole keys in the bucket',
  name: 'under the last part of their names',
  unknown: 'elsewhere',
};
const yesOrNo = (value: boolean) => (value ? 'yes' : 'no');
const megabytes = (bytes: number) => `${bytes / 1024 ** 2} MB`;
const namesOf = (kinds: readonly NameKind[]) => kinds.join(', ') || 'none';

/** The facts as rows. */
export function findingsOf(facts: TransformFacts): Finding[] {
  const row = (fact: string, tell: (facts: TransformFacts) => string): Finding => {
    const [assumed, found] = [tell(ASSUMED_FACTS), tell(facts)];
    return { fact, assumed, found, differs: assumed !== found };
  };
  return [
    row('outputs lie', ({ layout }) => LAYOUT_WORDS[layout]),
    row('names whose outputs lie elsewhere', ({ lostNames }) => namesOf(lostNames)),
    row('a manifest may have', ({ manifestBytes }) => megabytes(manifestBytes)),
    row('a key of a deleted object stops the job', (f) => yesOrNo(f.deletedKeyStopsJob)),
    row('a bad input takes the outputs of the others', (f) => yesOrNo(f.badInputStopsJob)),
    row('an empty object has an output', (f) => yesOrNo(f.emptyIsAnswered)),
    row('an object over MaxPayloadInMB has an output', (f) => yesOrNo(f.largeIsAnswered)),
  ];
}
