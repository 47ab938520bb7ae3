/** The network's picture. */
export interface FitImageOptions {
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
  /** `stretch` changes the aspect ratio, `letterbox` keeps it between black bars. Default: `stretch`. */
  readonly mode?: 'stretch' | 'letterbox';
  /** JPEG quality, 1 to 100. Default: 90. */
  readonly quality?: number;
}
