/** What to do about TensorFlow's messages on models that do not restore, to be appended to them. */

const ADVICE: readonly { readonly when: RegExp; readonly advice: string }[] = [
  {
    when: /Could not find variable|Error while reading resource variable|uninitialized value/i,
    advice:
      'The SavedModel does not restore all of its variables outside Python. Check that its variables/ ' +
      'folder is complete, and export Keras 3 models with model.export() or ' +
      'tf.keras.export.ExportArchive instead of tf.saved_model.save.',
  },
  {
    when: /Could not find meta graph def matching supplied tags/i,
    advice:
      'Load it with the tags that it was saved with, usually "serve". Where saved_model.pb is empty or ' +
      'cut off, copy or export it again.',
  },
  {
    when: /\bRestoreV2\b/,
    advice:
      'The variables/ folder of the SavedModel is damaged or incomplete: copy or export it again.',
  },
  {
    when: /Op type not registered/i,
    advice:
      'The model uses an operation that this TensorFlow does not have: a custom or newer one.',
  },
  {
    when: /Can't parse|Failed to parse|corrupt|truncated|Read less bytes|checksum/i,
    advice: 'Its saved_model.pb is damaged or incomplete: copy or export it again.',
  },
];

/** Advice in parentheses on a message, empty if there is none. */
export function restoreAdvice(message: string): string {
  const known = ADVICE.find(({ when }) => when.test(message));
  return known ? ` (${known.advice})` : '';
}
