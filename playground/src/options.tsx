/** Options of a request: model, version, signature, transport, outputs, format of the answer. */

import type { RequestAttributes } from '@sagemaker-tfs/client';
import { DEFAULT_SIGNATURE } from '@sagemaker-tfs/tensors';
import { RESIZE_MODES } from '@sagemaker-tfs/tensors/placement';
import type { Declaration, PlaygroundDescription } from './description.ts';
import { Field } from './field.tsx';
import {
  declarationText,
  NUMBERS,
  numbersText,
  type SwitchedTexts,
  switchedOf,
  wrongNumbers,
} from './request/switched.ts';

/** What is chosen; an empty text leaves it to the runtime. */
export interface Choices {
  readonly model: string;
  readonly version: string;
  readonly signature: string;
  readonly transport: '' | 'grpc' | 'rest';
  /** Outputs that are not wanted. */
  readonly left: readonly string[];
  /** Media type of the answer. */
  readonly accept: string;
  /** Fields of the declared `preprocess` that are switched. */
  readonly switched: SwitchedTexts;
}

const JSON_TYPE = 'application/json';
const NPZ_TYPE = 'application/x-npz';

/** What the runtime itself would take; where it would refuse to choose among signatures, the first. */
export function firstChoices({ models }: PlaygroundDescription): Choices {
  const [model] = models;
  const keys = Object.keys(model?.signatures ?? {});
  const signature = keys.includes(DEFAULT_SIGNATURE) ? DEFAULT_SIGNATURE : (keys[0] ?? '');
  const free = { version: '', transport: '', left: [], accept: '', switched: {} } as const;
  return { ...free, model: model?.name ?? '', signature };
}

/** Chosen, or npz, which keeps dtypes; JSON where a handler or `postprocess` makes the answer. */
export function acceptOf({ accept }: Choices, description: PlaygroundDescription): string {
  if (accept) return accept;
  const madeToBeRead = description.hasHandler || description.hasPostprocess;
  return madeToBeRead ? JSON_TYPE : `${NPZ_TYPE}, ${JSON_TYPE};q=0.5`;
}

/** Only what differs from the runtime's own choice is sent. */
export function attributesOf(
  choices: Choices,
  { models }: PlaygroundDescription,
): RequestAttributes {
  const model = models.find(({ name }) => name === choices.model);
  const all = Object.keys(model?.signatures[choices.signature]?.outputs ?? {});
  const outputs = all.filter((name) => !choices.left.includes(name));
  const method = model?.signatures[choices.signature]?.examples?.method;
  return {
    ...(models.length > 1 && { modelName: choices.model }),
    ...(choices.version && { modelVersion: choices.version }),
    ...(choices.signature !== DEFAULT_SIGNATURE && { signature: choices.signature }),
    ...(method && method !== 'predict' && { method }),
    ...(choices.transport && { transport: choices.transport }),
    ...(outputs.length < all.length && outputs.length > 0 && { outputs }),
  };
}

interface Props {
  readonly description: PlaygroundDescription;
  readonly choices: Choices;
  readonly onChange: (choices: Choices) => void;
}

/** The form. */
export function Options({ description, choices, onChange }: Props) {
  const model = description.models.find(({ name }) => name === choices.model);
  const signatures = Object.keys(model?.signatures ?? {});
  const outputs = Object.keys(model?.signatures[choices.signature]?.outputs ?? {});
  const declared = model?.signatures[choices.signature]?.picture?.declared;
  const change = (part: Partial<Choices>) => onChange({ ...choices, ...part });
  const choose = (name: string) => {
    const next = firstChoices({
      ...description,
      models: description.models.filter((other) => other.name === name),
    });
    onChange({ ...next, transport: choices.transport, accept: choices.accept });
  };
  return (
    <details>
      <summary>Options</summary>
      <div class="options">
        {description.models.length > 1 ? (
          <Select
            label="Model"
            value={choices.model}
            onChange={choose}
            values={description.models.map(({ name }) => [name, name])}
          />
        ) : null}
        <Select
          label="Version"
          value={choices.version}
          onChange={(version) => change({ version })}
          values={[['', 'newest'], ...(model?.versions ?? []).map((v): [string, string] => [v, v])]}
        />
        <Select
          label="Signature"
          value={choices.signature}
          onChange={(signature) => change({ signature, left: [], switched: {} })}
          values={signatures.map((key) => [key, key])}
        />
        <Select
          label="Transport"
          value={choices.transport}
          onChange={(transport) => change({ transport: transport as Choices['transport'] })}
          values={[
            ['', 'as served'],
            ['grpc', 'gRPC'],
            ['rest', 'REST'],
          ]}
        />
        <Select
          label="Answer as"
          value={choices.accept}
          onChange={(accept) => change({ accept })}
          values={[
            ['', 'automatic'],
            [JSON_TYPE, 'JSON'],
            [NPZ_TYPE, 'npz'],
            ['text/csv', 'CSV'],
          ]}
        />
        {outputs.length > 1 ? (
          <fieldset>
            <legend>Outputs</legend>
            {outputs.map((name) => (
              <label key={name}>
                <input
                  type="checkbox"
                  checked={!choices.left.includes(name)}
                  onChange={(event) =>
                    change({
                      left: event.currentTarget.checked
                        ? choices.left.filter((other) => other !== name)
                        : [...choices.left, name],
                    })
                  }
                />
                {name}
              </label>
            ))}
          </fieldset>
        ) : null}
        {declared ? (
          <Preprocess
            declared={declared}
            switched={choices.switched}
            onChange={(switched) => change({ switched })}
          />
        ) : null}
      </div>
    </details>
  );
}

interface PreprocessProps {
  readonly declared: Declaration;
  readonly switched: SwitchedTexts;
  readonly onChange: (switched: SwitchedTexts) => void;
}

const SWITCHES = [
  ['resize', RESIZE_MODES],
  ['layout', ['NHWC', 'NCHW']],
  ['channels', ['rgb', 'bgr', 'gray']],
] as const;

/** Switches of the declared preprocess; they hold for requests of this page alone. */
function Preprocess({ declared, switched, onChange }: PreprocessProps) {
  const { scale, offset, ...rest } = declared;
  const texts = { ...rest, scale: numbersText(scale), offset: numbersText(offset) };
  const change = (name: keyof Declaration, text: string) => {
    const { [name]: _, ...others } = switched;
    onChange(text === texts[name] ? others : { ...others, [name]: text });
  };
  const wrong = wrongNumbers(switched);
  return (
    <fieldset class="switches">
      <legend>Preprocess</legend>
      {SWITCHES.map(([name, values]) => (
        <Select
          key={name}
          label={name}
          value={switched[name] ?? texts[name]}
          onChange={(value) => change(name, value)}
          values={values.map((value) => [value, value])}
        />
      ))}
      {NUMBERS.map((name) => (
        <Field
          key={name}
          id={name}
          label={name}
          problem={wrong[name] ?? ''}
          value={switched[name] ?? texts[name]}
          onInput={(text) => change(name, text)}
        />
      ))}
      {Object.keys(switched).length > Object.keys(wrong).length ? (
        <p class="quiet">
          For pictures sent from here. To keep it:{' '}
          <code>{declarationText(switchedOf(switched))}</code>
        </p>
      ) : null}
    </fieldset>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  /** Value and text of each. */
  readonly values: readonly (readonly [string, string])[];
  readonly onChange: (value: string) => void;
}

function Select({ label, value, values, onChange }: SelectProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {values.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
