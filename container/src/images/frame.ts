/** The model's frame as a part of the picture, or the picture as a part of it. */
export interface FrameInPicture {
  /** The frame's upper edge: 0 is the picture's own upper edge, 1 its lower. */
  readonly top: number;
  /** The frame's left edge: 0 is the picture's own left edge, 1 its right. */
  readonly left: number;
  /** In heights of the picture. */
  readonly height: number;
  /** In widths of the picture. */
  readonly width: number;
}
