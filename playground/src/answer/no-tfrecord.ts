/** In place of the client's reader of TFRecord, which the page never asks for: with it come 80 kB of protobuf. */

/** @throws Error always */
export function tfRecordTensors(): never {
  throw new Error('this page does not read TFRecord; ask for npz or JSON');
}
