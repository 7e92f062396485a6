"""Runs axe on a page in both themes and expects no findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Page

# Axe spends 90 % of its time on the contrast of each text, which depends only on the colours, the sizes and the
# classes of the text and its ancestors: of texts that look the same, only one is checked, on one page.
CHECK = """async (part) => {
    const looks = (window.looks ??= new Map());
    const judged = (window.judgedLooks ??= new Set());
    const check = async (rules) => {
        const known = new Map();
        const look = (one) => {
            if (one === null) return -1;
            if (!known.has(one)) {
                const style = getComputedStyle(one);
                const own = [one.localName, one.getAttribute("class"), style.color, style.opacity,
                    style.backgroundColor, style.backgroundImage, style.fontSize, style.fontWeight, style.textShadow];
                const key = [look(one.parentElement), ...own].join("|");
                if (!looks.has(key)) looks.set(key, looks.size);
                known.set(one, looks.get(key));
            }
            return known.get(one);
        };
        const hasText = (one) => [...one.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
        const inputs = "input, select, textarea";
        const all = [...document.querySelector(part).querySelectorAll("*")];
        const hasPlace = ({ width, height }) => width > 1 && height > 1;  // else it is for screen readers, or not there
        const isText = (one) => hasText(one) || one.matches(inputs);
        const texts = all.filter((one) => isText(one) && hasPlace(one.getBoundingClientRect()));
        axe.configure({ rules: [{ id: "color-contrast", selector: "[data-judge]" }] });
        const found = [];
        const judge = async (some, options) => {
            for (const one of some) one.dataset.judge = "";
            const told = { resultTypes: ["passes", "violations"], selectors: false, elementRef: true };
            const results = await axe.run(part, { ...told, ...options });
            for (const one of some) delete one.dataset.judge;
            for (const { id, nodes } of results.violations)
                found.push([id, nodes.map((node) => node.html + node.failureSummary)]);
            for (const { id, nodes } of results.passes)
                if (id === "color-contrast") for (const node of nodes) judged.add(look(node.element));
        };
        const unjudged = () => texts.filter((one) => !judged.has(look(one)));
        const isSeen = (one) => {
            const { x, y, width, height } = one.getBoundingClientRect();
            return one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
        };
        const first = new Map();  // one that is seen, if there is one
        for (const one of unjudged()) {
            const chosen = first.get(look(one));
            if (!chosen || (!isSeen(chosen) && isSeen(one))) first.set(look(one), one);
        }
        const contrast = { runOnly: ["color-contrast"] };
        if (rules === "all" || first.size) await judge([...first.values()], rules === "all" ? {} : contrast);
        const rest = unjudged().filter((one) => first.get(look(one)) !== one);
        if (rest.length && !found.length) await judge(rest, contrast);  // the first may be hidden where others are not
        return found;
    };
    const { dataset } = document.documentElement;
    const chosen = dataset.theme;
    dataset.theme = "light";
    const light = await check("all");
    dataset.theme = "dark";
    const dark = await check("contrast");  // nothing else differs
    dataset.theme = chosen;
    return { light, dark };
}"""


async def clean(page: Page, part: str = "html") -> None:
    """Expect no findings of axe in a part of a page that was opened with `axe`."""
    found = await page.evaluate(CHECK, part)
    assert found == {"light": [], "dark": []}, (page.url, found)
