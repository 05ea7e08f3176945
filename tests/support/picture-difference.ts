/** How much two pictures differ for the eye. */
import type { ShownPage } from "./chromium.ts";

/** Edges of letters differ between builds of a browser; the average of so many pixels each way hardly does. */
const BLOCK = 4;

/** Averages that are further apart than this, of 255, are seen as another colour. */
const SEEN = 40;

/** Runs in the browser, which reads any picture that it has made. */
const DIFFERENCE = `async (urls) => {
  const read = async (url) => {
    const image = await createImageBitmap(await (await fetch(url)).blob());
    const [width, height] = [image.width, image.height].map((pixels) => Math.ceil(pixels / ${BLOCK}));
    const canvas = new OffscreenCanvas(width, height).getContext("2d");
    canvas.imageSmoothingQuality = "high";
    canvas.drawImage(image, 0, 0, width, height);
    return { size: image.width + "x" + image.height, blocks: canvas.getImageData(0, 0, width, height).data };
  };
  const [one, other] = await Promise.all(urls.map(read));
  if (one.size !== other.size) return 1;
  let different = 0;
  for (let at = 0; at < one.blocks.length; at += 4)
    if ([0, 1, 2].some((part) => Math.abs(one.blocks[at + part] - other.blocks[at + part]) > ${SEEN})) different += 1;
  return different / (one.blocks.length / 4);
}`;

/** The share of small blocks whose colours differ; 1 for pictures of different sizes. `page` is any browser page. */
export async function pictureDifference(
  page: Pick<ShownPage, "evaluate">,
  pictures: readonly [Uint8Array, Uint8Array],
): Promise<number> {
  const urls = pictures.map((file) => `data:image/webp;base64,${Buffer.from(file).toString("base64")}`);
  return await page.evaluate<number>(`(${DIFFERENCE})(${JSON.stringify(urls)})`);
}
