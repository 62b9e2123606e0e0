import { h } from "./dom.js";

/** An image from numbers, channels last, in grey or RGB between two limits. */
export function image({ height, width, channels, low, high }, pixels, description) {
  const grey = (value) => Math.round(255 * Math.min(1, Math.max(0, (value - low) / (high - low || 1))));
  return canvas(height, width, description, (i) => {
    const value = (channel) => grey(pixels[i * channels + (channels === 3 ? channel : 0)]);
    return [value(0), value(1), value(2), 255];
  });
}

// The colours of both samples, readable on light and on dark pages; opacity shows the strength.
const towardsX = [32, 128, 196];
const towardsY = [222, 104, 24];

/** Signed numbers as an image: one colour towards the first sample, the other towards the second, transparent at 0. */
export function signedImage({ height, width, channels }, values, description) {
  const mean = (i) => {
    let sum = 0;
    for (let channel = 0; channel < channels; ++channel) sum += values[i * channels + channel];
    return sum / channels;
  };
  const means = Array.from({ length: height * width }, (_, i) => mean(i));
  const largest = means.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
  return canvas(height, width, description, (i) => {
    const strength = Math.abs(means[i]) / largest;
    return [...(means[i] < 0 ? towardsX : towardsY), Math.round(255 * strength)];
  });
}

/** A heat map of many distances, one pixel each: the larger, the stronger. */
export function distanceImage(values, order, description) {
  const size = order.length;
  const largest = values.reduce((most, row) => Math.max(most, ...row), 0) || 1;
  return canvas(size, size, description, (i) => {
    const value = values[order[Math.floor(i / size)]][order[i % size]];
    return [...towardsX, Math.round((255 * value) / largest)];
  });
}

function canvas(height, width, description, colourOf) {
  const element = h("canvas", { width, height, role: "img", "aria-label": description });
  const context = element.getContext("2d");
  const data = context.createImageData(width, height);
  for (let i = 0; i < height * width; ++i) data.data.set(colourOf(i), 4 * i);
  context.putImageData(data, 0, 0);
  return element;
}
