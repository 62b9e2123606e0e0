import { h } from "./dom.js";

const system = matchMedia("(prefers-color-scheme: dark)");

/** The theme follows the system until the reader chooses one. */
export function themeButton() {
  const button = h("button", { type: "button", class: "quiet", onclick: () => choose(opposite()) });
  const show = () => {
    button.textContent = opposite() === "dark" ? "Dark" : "Light";
    button.setAttribute("aria-label", `Show the page in ${opposite()} colours`);
  };
  const follow = () => {
    apply(system.matches ? "dark" : "light");
    show();
  };
  const choose = (theme) => {
    system.removeEventListener("change", follow);
    apply(theme);
    show();
  };
  system.addEventListener("change", follow);
  follow();
  return button;
}

function apply(theme) {
  document.documentElement.dataset.theme = theme;
}

function opposite() {
  return document.documentElement.dataset.theme === "dark" ? "light" : "dark";
}
