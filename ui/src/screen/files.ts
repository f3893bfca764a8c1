// Text of a file that a person chooses.

/** The first `most` bytes of a file as text: what is longer is cut, and the host says that it is too long. */
export function textOf(file: File, most: number): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.onerror = () => failed(reader.error ?? new Error("the file cannot be read"));
    reader.readAsText(file.slice(0, most));
  });
}
