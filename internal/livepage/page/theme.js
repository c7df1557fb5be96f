// Colours. Everything that is drawn takes them from the style sheet, so that
// light and dark are decided in one place. No pair is told apart by red and
// green, and nothing by colour alone.

const dark = matchMedia("(prefers-color-scheme: dark)"), still = matchMedia("(prefers-reduced-motion: reduce)");
export const theme = {};
const watchers = [];

const ramps = {
  light: { plain: ["#e3eaf1", "#93b8d4", "#3f7fb2", "#143c66"], judged: ["#c85200", "#eeb285", "#d5dae1", "#84b5da", "#0b62a4"] },
  dark: { plain: ["#26384e", "#2f6e9e", "#63aecb", "#f4e7a1"], judged: ["#ff9d4d", "#b57a4b", "#4c5867", "#4c8fc2", "#6bb6f5"] },
};

function load() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "soft", "rule", "card", "paper", "accent", "edge", "edge-out", "blank", "down", "pulse", "robot", "trail", "good", "bad", "snap", "on"]) theme[name] = style.getPropertyValue("--" + name).trim();
  theme.learners = [0, 1, 2, 3, 4, 5].map(k => style.getPropertyValue("--l" + k).trim());
  theme.groups = [0, 1, 2, 3, 4].map(k => style.getPropertyValue("--c" + k).trim());
  theme.tint = dark.matches ? 0.2 : 0.16;
  theme.still = still.matches;
  const set = dark.matches ? ramps.dark : ramps.light;
  theme.plain = table(set.plain);
  theme.judged = table(set.judged);
  theme.blame = theme.judged.toReversed();
}

// hue returns the colour of a community, as opaque as asked.
const hues = new Map();
export function hue(group, alpha) {
  const key = theme.groups[group % theme.groups.length] + alpha;
  let text = hues.get(key);
  if (!text) hues.set(key, text = "rgb(" + [1, 3, 5].map(k => parseInt(key.slice(k, k + 2), 16)).join(" ") + ` / ${alpha})`);
  return text;
}

// table turns stops into 64 colours.
function table(stops) {
  const rgb = stops.map(s => [1, 3, 5].map(k => parseInt(s.slice(k, k + 2), 16)));
  return Array.from({ length: 64 }, (_, i) => {
    const at = i / 63 * (rgb.length - 1), k = Math.min(Math.floor(at), rgb.length - 2), part = at - k;
    return "rgb(" + rgb[k].map((v, c) => Math.round(v + (rgb[k + 1][c] - v) * part)).join(" ") + ")";
  });
}

// rampOf returns the 64 colours of a quantity.
export function rampOf(quantity) { return quantity?.good === "high" ? theme.judged : quantity?.good === "low" ? theme.blame : theme.plain; }

// setLooks takes from a scene which colour and dash each learner has: frozen and learning
// look alike in all scenes.
let looks = [];
export function setLooks(list) { looks = list; }
const lookOf = k => k < 0 ? 3 : looks[k] ?? k;

export const learnerColor = k => theme.learners[lookOf(k) % theme.learners.length];
const dashes = [[], [7, 3], [], [2, 3], [9, 3, 2, 3], [4, 4]];
export const learnerDash = k => dashes[lookOf(k) % dashes.length];

export function onTheme(f) { watchers.push(f); }
for (const media of [dark, still]) media.addEventListener("change", () => { load(); for (const f of watchers) f(); });
load();
