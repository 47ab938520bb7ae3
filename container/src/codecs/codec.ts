/** What a media type's codec does: body to tensors on the way in, tensors to body on the way out. */
import type { Postprocess } from '@sagemaker-tfs/manifest';
import type { Signature, TensorMap } from '@sagemaker-tfs/tensors';
import type { FrameInPicture } from '@sagemaker-tfs/tensors/placement';
import type { PictureContext } from '../images/picture-context.ts';
import type { Labels } from '../postprocess/labels.ts';

/** What a request codec knows besides the body. */
export interface DecodeContext extends PictureContext {
  /** The media type as sent, parameters included, for example `text/csv; header=present`. */
  readonly contentType: string;
  /**
   * What messages call the records of a body that is a part of another: their numbers there, of CSV their lines. By
   * default they are counted as they come.
   */
  readonly places?: readonly number[] | undefined;
}

/** The number by which messages call a record. */
export function placeOf({ places }: Pick<DecodeContext, 'places'>, index: number): number {
  return places?.[index] ?? index;
}

/** What messages call a record of a framed body. */
export function recordName(context: Pick<DecodeContext, 'places'>, index: number): string {
  return `record ${placeOf(context, index)}`;
}

/** Encoded pictures of a body, one a record. */
export interface HeldPictures {
  /** The input that they are for; undefined if the records themselves are pictures, for the input that takes some. */
  readonly input: string | undefined;
  readonly images: readonly Uint8Array[];
}

/** A body taken apart, its pictures not decoded yet. */
export interface ReadRequest extends DecodedRequest {
  readonly pictures?: readonly HeldPictures[] | undefined;
}

/** Decodes one or more media types. */
export interface RequestCodec {
  /** Lower-case media types without parameters; `image/*` is a wildcard. The first is its usual name. */
  readonly mediaTypes: readonly string[];
  /** @throws ServingError (4xx) that names the record and the position of what is wrong */
  decode(body: Uint8Array, context: DecodeContext): Promise<DecodedRequest>;
  /** Does what a thread does with a large body: all but to decode pictures, which have threads of their own. */
  read?(body: Uint8Array, context: DecodeContext): Promise<ReadRequest>;
}

/** A decoded request. */
export interface DecodedRequest {
  readonly inputs: TensorMap;
  /** Signature asked for inside the body (`signature_name` in JSON), if any. */
  readonly signatureName?: string;
  /** TensorFlow Serving's row format (`instances`) answers with `predictions`, columnar with `outputs`. */
  readonly form: 'row' | 'columnar';
  /** How the model sees each picture, where that was asked for and pictures were not just stretched. */
  readonly frames?: readonly FrameInPicture[] | undefined;
}

/** What a response codec knows besides the tensors. */
export interface EncodeContext {
  /** Rows of an output without elements. Default: that of `SAGEMAKER_TFS_MAX_STRINGS` */
  readonly maxEmptyRows?: number | undefined;
  /** Whether Parquet is written. Default: no */
  readonly parquet?: boolean | undefined;
  readonly signature: Signature;
  /** Order in which outputs were asked for; the signature's order by default. */
  readonly outputOrder: readonly string[];
  readonly form: 'row' | 'columnar';
  /** Applied to the outputs before they are encoded, where the package declares it. */
  readonly postprocess?: Postprocess | undefined;
  /** The labels that `postprocess` names, read by `loadLabels`. */
  readonly labels?: Labels | undefined;
  /** The request's frames, by which boxes become the pictures' own. */
  readonly frames?: readonly FrameInPicture[] | undefined;
  /** What JSON shows instead of the outputs, a value for each instance; other media types show the outputs. */
  readonly instances?: readonly unknown[];
  /** Records that have no row in the outputs, by their place, with what was wrong: JSON and CSV show that as their row, npz masks it. */
  readonly badRecords?: ReadonlyMap<number, string> | undefined;
}

/** An encoded response. */
export interface EncodedResponse {
  readonly contentType: string;
  /** Pieces of the body; an async iterable is sent as it is made, with back-pressure. */
  readonly body: readonly Uint8Array[] | AsyncIterable<Uint8Array>;
  /** `key=value` pairs for `X-Amzn-SageMaker-Custom-Attributes`, for example names and shapes of outputs. */
  readonly customAttributes?: Readonly<Record<string, string>> | undefined;
}

/** Encodes one or more media types. */
export interface ResponseCodec {
  readonly mediaTypes: readonly string[];
  /** @throws ServingError (406) where these outputs have no form in this media type */
  encode(outputs: TensorMap, context: EncodeContext): Promise<EncodedResponse>;
}
