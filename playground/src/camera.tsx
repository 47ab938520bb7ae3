/** A computer's camera: what it sees, and a button that takes a picture. Phones have a program of their own for that. */
import { useEffect, useRef, useState } from 'preact/hooks';

/** Whether this browser shows a camera in the page. On a phone the file input opens the phone's camera. */
export function hasCamera(): boolean {
  return navigator.mediaDevices !== undefined && !matchMedia('(pointer: coarse)').matches;
}

interface Props {
  readonly onTake: (picture: Blob) => void;
  readonly onClose: () => void;
}

/** Asks for the camera when it is shown, and stops it when it is not. */
export function Camera({ onTake, onClose }: Props) {
  const video = useRef<HTMLVideoElement>(null);
  const [problem, setProblem] = useState('');
  const [ready, setReady] = useState(false);
  useEffect(() => {
    let isOpen = true;
    let stop = () => {};
    const show = (stream: MediaStream) => {
      stop = () => {
        for (const track of stream.getTracks()) track.stop();
      };
      if (isOpen && video.current) video.current.srcObject = stream;
      else stop();
    };
    navigator.mediaDevices
      .getUserMedia({ video: true })
      .then(show, (error) => setProblem(`No camera: ${error.message}. Choose a file instead.`));
    return () => {
      isOpen = false;
      stop();
    };
  }, []);
  const take = () => {
    const { current } = video;
    if (!current) return;
    const canvas = document.createElement('canvas');
    canvas.width = current.videoWidth;
    canvas.height = current.videoHeight;
    canvas.getContext('2d')?.drawImage(current, 0, 0);
    canvas.toBlob((picture) => picture && onTake(picture), 'image/jpeg', 0.92);
  };
  return (
    <>
      {problem ? (
        <p role="alert">{problem}</p>
      ) : (
        <video
          class="preview"
          ref={video}
          autoplay
          muted
          playsInline
          aria-label="What the camera sees"
          onLoadedData={() => setReady(true)}
        />
      )}
      <div class="buttons">
        <button type="button" class="main" disabled={!ready} onClick={take}>
          Take the picture
        </button>
        <button type="button" onClick={onClose}>
          Close the camera
        </button>
      </div>
    </>
  );
}
