"""What can be wrong with a page's looks: each check gives a sentence for every fault of a page."""

import re
from collections.abc import Callable

from axe_playwright_python.base import AXE_FILE_PATH
from browser import PHONE, Opened

A4 = (718, 1000)
NODES = 13_000  # most are those of formulas, here without what is read aloud
FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
NAME = """e => `${e.tagName.toLowerCase()}${e.id && "#" + e.id}${
    e.getAttribute("class") ? "." + e.getAttribute("class").trim().replace(/\\s+/g, ".") : ""
} ${JSON.stringify(e.textContent.trim().slice(0, 30))}`"""

# What is seen of an article, without what is in formulas, which is MathJax's own affair, and in
# drawings, which cut what lies outside.
INSIDE = "mjx-math, mjx-math *, mjx-assistive-mml, mjx-assistive-mml *, svg *"
SEEN = f"""[...document.querySelectorAll("article, article *:not({INSIDE})")]
    .filter(e => e.checkVisibility())"""
CONTROLS = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary")]
    .filter(e => e.checkVisibility({ visibilityProperty: true }))"""
GREEK = "alpha|beta|gamma|delta|eps|zeta|eta|theta|lambda|mu|xi|pi|rho|sigma|tau|phi|psi|omega"
TYPED = re.compile(
    r"[_^]|<=|>=|->|\.\.\.|\|\|\w|\d%"  # w_j, a^2, a <= b, ||W||, 5%
    r"|\d[eE][+‑-]?\d|\d\.\d{8}|(?:^|[\s(≈])[‑-][\d.(]"  # 1e-9, 0.33333333, -1
    rf"|\b(?:sqrt|nan|inf|{GREEK})\b|^(?:True|False|None|NaN)$"
).search
"""Mathematics as it is typed, and what Python prints."""


def quiet(visit: Opened) -> list[str]:
    """The browser has nothing to say, and nothing is asked of a network."""
    asked = [f"a request leaves for {url}" for url in visit.outgoing]
    return [f"the console says {text!r}" for text in visit.complaints] + asked


def short(visit: Opened, screens: int = 30) -> list[str]:
    """At most so many screens of a laptop, and so many nodes."""
    long, nodes = visit.ask(
        "[document.documentElement.scrollHeight / innerHeight, [...document.querySelectorAll("
        "'*')].reduce((sum, e) => sum + 1 + Number(e.dataset?.nodes ?? 0), 0)]"
    )
    found = [f"{long:.1f} screens, of {screens}"] if long > screens else []
    return found + ([f"{nodes} nodes, of {NODES}"] if nodes >= NODES else [])


def described(visit: Opened) -> list[str]:
    """A language, an icon, a title that says a thing once, and a sentence on what is there."""
    return visit.ask("""() => {
        const found = [], head = document.head;
        const told = document.querySelector("meta[name=description]")?.content ?? "";
        const [page, book] = document.title.split(" — ");
        if (document.documentElement.lang !== "en") found.push("no language is set");
        if (!head.querySelector("link[rel=icon]")) found.push("no icon");
        if (!page || page === book) found.push(`the title is ${document.title}`);
        if (document.querySelector("article h1 + *, article h1 ~ p") && !/[.?!:]$/.test(told)
            && !/(search|genindex).html$/.test(location.pathname))
            found.push(`the description is no sentence: ${told}`);
        return found;
    }""")


def headings(visit: Opened) -> list[str]:
    """One title, and no heading that skips a level."""
    return visit.ask("""() => {
        const shown = [...document.querySelectorAll("main :is(h1, h2, h3, h4, h5, h6)")]
            .filter(e => e.checkVisibility());
        const level = e => Number(e.tagName[1]), found = [];
        const titles = shown.filter(e => level(e) === 1).length;
        if (titles !== 1 || level(shown[0]) !== 1) found.push(`${titles} titles, or not first`);
        shown.forEach((e, k) => k && level(e) > level(shown[k - 1]) + 1
            && found.push(`the heading ${e.textContent} skips a level`));
        return found;
    }""")


def typeset(visit: Opened) -> list[str]:
    """Every formula is set, without an error."""
    return visit.ask(
        f"""() => [...document.querySelectorAll("span.math, div.math")]
        .filter(e => !e.querySelector("mjx-container")
            || e.querySelector("mjx-merror, .mjx-output-error"))
        .map(e => "a formula is not set: " + ({NAME})(e))"""
    )


def pictures(visit: Opened) -> list[str]:
    """Every picture is there, and says in words what can be seen on it."""
    return visit.ask("""() => [...document.images].flatMap(i => [
        ...(i.naturalWidth ? [] : [`no picture ${i.src}`]),
        ...(i.alt.trim().split(/\\s+/).length > 4 ? [] : [`a picture says only ${i.alt || "''"}`]),
    ])""")


def tables(visit: Opened) -> list[str]:
    """Tables fit on a laptop, and hold nothing as it is typed or as Python prints it."""
    wide, cells = visit.ask(
        """() => {
        const shown = [...document.querySelectorAll("article table")].filter(
            e => e.checkVisibility());
        const place = e => getComputedStyle(e).overflowX === "visible" && e.parentElement
            ? place(e.parentElement) : e.clientWidth;
        const words = cell => {
            const copy = cell.cloneNode(true);
            copy.querySelectorAll("a, code, pre, sub, sup, .math").forEach(e => e.remove());
            return copy.textContent.trim();
        };
        return [
            shown.filter(e => e.getBoundingClientRect().width > place(e.parentElement) + 1)
                .map(NAME),
            shown.flatMap(e => [...e.querySelectorAll("th, td")].map(words)),
        ];
    }""".replace("NAME", NAME)
    )
    found = [f"a table is wider than a laptop: {name}" for name in wide]
    return found + [f"a table has as it is typed: {words}" for words in cells if TYPED(words)]


# To ask axe takes long: it is asked of the places that are built or drawn in a way in which none of
# a page before was, where it found nothing, and of no formula, which is MathJax's own affair. All
# of the first page is new. What is behind words takes most of the time, and has marks of its own.
MARKED = """([part, known]) => {
    const seen = new Set(known), style = new Map(), ground = new Map();
    const drawn = e => style.get(e) ?? style.set(e, getComputedStyle(e)).get(e);
    const behind = e => {
        if (!e || ground.has(e)) return ground.get(e) ?? "";
        const { backgroundColor, backgroundImage, opacity } = drawn(e);
        const own = [backgroundColor, backgroundImage, opacity].join(" ");
        const below = behind(e.parentElement);
        ground.set(e, own === "rgba(0, 0, 0, 0) none 1" ? below : `${below}, ${own}`);
        return ground.get(e);
    };
    const isNew = (e, name, way) => {
        if (!seen.has(way)) e.dataset[name] = "";
        seen.add(way);
    };
    const own = /^(id|href|src|alt|style|title|download|aria-(describedby|controls))$/;
    const said = e => [...e.attributes].filter(({ name }) => !name.startsWith("data-"));
    const named = (e, name) => name === "aria-label" && !e.textContent.trim();  // what is drawn
    const marks = e => said(e).map(({ name, value }) => own.test(name) || named(e, name)
        ? [name, value.trim() === "",
            value[0] === "#" && e.hash && document.getElementById(value.slice(1)) === null]
        : `${name}=${value.replace(/drawn-\\S+/, "")}`);
    for (const name of ["asked", "drawn"])  // of what was asked before
        document.querySelectorAll(`[data-${name}]`).forEach(e => delete e.dataset[name]);
    const parts = `${part}, ${part} *`, formula = ":is(mjx-container, mjx-container *, svg *)";
    const unseen = "meta:is([name=viewport], [http-equiv])", reached = "a, button, [tabindex]";
    for (const e of document.querySelectorAll(parts)) {
        if (e.matches(formula) || !(e.matches(unseen) || e.checkVisibility())) continue;
        const { color, fontSize, fontWeight, overflowX, textDecorationLine } = drawn(e);
        const landmark = Boolean(e.closest("main, nav, header, footer, aside, [role]"));
        const scrolls = overflowX === "auto" && e.scrollWidth > e.clientWidth;
        const words = e.textContent.trim(), holds = what => e.querySelector(what) !== null;
        const drawing = e.matches(reached)
            && [...e.querySelectorAll("img")].some(each => each.checkVisibility());
        const built = [e.tagName, e.parentElement?.tagName, landmark, scrolls && holds(reached),
            scrolls, e.ariaLabel ? words : words !== "", e.labels?.length, drawing,
            e.matches("table") && holds("td"), ...marks(e)];
        isNew(e, "asked", built.join());
        if (!landmark && "asked" in e.dataset) document.body.dataset.outside = "";
        if (!e.matches("input, select, textarea")
            && ![...e.childNodes].some(part => part.nodeType === 3 && part.data.trim())) continue;
        const large = parseFloat(fontSize) >= (fontWeight < 700 ? 24 : 18.66);
        const beside = e.matches("a") && [textDecorationLine, drawn(e.parentElement).color];
        isNew(e, "drawn", [color, large, beside, behind(e)].join());
    }
    return [...seen].slice(known.length);
}"""
# The first three places of each fault. axe would load the styles once more, which a page in a
# folder may not; and it does not ask by itself whether a name is what is written.
AXE = """async part => {
    const asked = { "color-contrast": "[data-drawn]", "link-in-text-block": "a[data-drawn]" };
    axe.configure({ rules: Object.entries(asked).map(([id, selector]) => ({ id, selector })) });
    const rules = { "label-content-name-mismatch": { enabled: true } };
    for (const id in asked) rules[id] = { enabled: Boolean(document.querySelector(asked[id])) };
    const outside = "outside" in document.body.dataset;  // a landmark is asked for on a whole page
    rules.region = { enabled: outside };
    const options = { preload: false, resultTypes: ["violations"], rules };
    const found = await axe.run(outside ? document : part, options);
    return found.violations.flatMap(({ id, nodes }) =>
        nodes.slice(0, 3).map(({ html }) => `axe: ${id}, ${html.slice(0, 120)}`));
}"""
FINE: dict[str, None] = {}
"""The ways in which places are built and drawn where axe found nothing."""


def accessible(visit: Opened, part: str = "html") -> list[str]:
    """axe finds nothing, in a part or at all."""
    ways = visit.page.evaluate(MARKED, [part, list(FINE)])
    if not ways:
        return []
    # By its address it is not sent to the browser again for each page.
    visit.page.add_script_tag(url=AXE_FILE_PATH.as_uri())
    found: list[str] = visit.page.evaluate(AXE, ":is([data-asked], [data-drawn])")
    if not found:
        FINE.update(dict.fromkeys(ways))
    return found


def followed(visit: Opened) -> list[str]:
    """The contents lead to all headings in their order, and mark what a jump lands on, below the
    header, and what is scrolled to."""
    return visit.ask(
        """async () => {
        const links = [...document.querySelectorAll(".bd-toc nav a")], found = [];
        if (!links.length) return found;  // a search has none, nor an article
        const article = document.querySelector("article");
        article.style.visibility = "hidden";  // to paint it takes most of the time
        const bar = document.querySelector(".bd-header-article").offsetHeight;
        const heading = link => {
            const part = document.getElementById(decodeURIComponent(link.hash.slice(1)));
            return part?.querySelector("h1, h2, h3, h4") ?? part;  // a name of the library has none
        };
        const top = link => heading(link).getBoundingClientRect().top;
        const marked = () => links.filter(link => link.matches(".active")).map(l => l.textContent);
        const want = async (link, how) => {
            for (let k = 0; k < 120 && marked().join() !== link.textContent; k++)
                await new Promise(requestAnimationFrame);
            if (marked().join() !== link.textContent) found.push(
                `after ${how} ${link.textContent} the contents mark ${marked().join() || "none"}`);
        };
        const each = async (some, go) => {  // up to the first fault: to wait for a mark takes long
            const before = found.length;
            for (const link of some) if (found.length === before) await go(link);
        };
        const last = links.findIndex((link, k) => !heading(link)?.checkVisibility()
            || (k && top(link) <= top(links[k - 1])));
        if (last >= 0) return [`the contents lead to ${links[last].hash}, which is not in order`];
        await each(links, async link => {
            link.click();
            await want(link, "a jump to");
            if (top(link) < bar || top(link) > innerHeight)
                found.push(`a jump to ${link.textContent} lands at ${top(link)} px`);
        });
        history.replaceState(null, "", location.pathname);
        await each(links.filter((_, k) => k % 3 === 0).reverse(), async link => {
            scrollBy(0, top(link) - bar);
            if (scrollY + innerHeight < document.documentElement.scrollHeight - 2)
                await want(link, "scrolling to");
        });
        scrollTo(0, 0);
        article.style.visibility = "";
        return found;
    }"""
    )


def dark(visit: Opened) -> list[str]:
    """In the dark theme axe finds nothing either, and nothing but a picture is pale."""
    with_theme(visit, "dark")
    found = [f"in the dark theme {fault}" for fault in accessible(visit)]
    found += visit.ask(
        """() => SEEN.filter(e => {
            const [r, g, b, a = 1] = getComputedStyle(e).backgroundColor.match(/[\\d.]+/g);
            const line = c => c <= 10 ? c / 3295 : ((c / 255 + .055) / 1.055) ** 2.4;
            const light = .2126 * line(+r) + .7152 * line(+g) + .0722 * line(+b);
            if (e.tagName === "IMG" || a <= .3 || light <= .3) return false;
            const { width, height } = e.getBoundingClientRect();
            return width * height > 400 && e.checkVisibility({ opacityProperty: true });
        }).slice(0, 5).map(e => "in the dark theme a slab is pale: " + (NAME)(e))""".replace(
            "SEEN", SEEN
        ).replace("NAME", NAME)
    )
    with_theme(visit, "light")
    return found


def phone(visit: Opened) -> list[str]:
    """On a phone every control of a laptop is there, all can be reached, what scrolls shows it,
    figures and columns can be read, and axe finds nothing."""
    visit.ask(f"() => {{ window.reached = {CONTROLS}; }}")
    with_size(visit, PHONE)
    return [f"on a phone {fault}" for fault in accessible(visit)] + visit.ask(
        """() => {
        const W = document.documentElement.clientWidth, found = [];
        const scrolls = e => ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
        const up = function* (e) { for (; e.tagName !== "BODY"; e = e.parentElement) yield e; };
        const say = (what, list) =>
            list.slice(0, 3).forEach(e => found.push(`${what}: ${(NAME)(e)}`));
        if (document.documentElement.scrollWidth > W) found.push("the page is wider than a phone");
        const seen = SEEN;
        const shown = e => e?.checkVisibility({ visibilityProperty: true });
        const gone = reached.filter(e => !shown(e) && !e.matches("a.wide"));  // it has a narrow one
        for (const bar of ["primary", "secondary"])
            if (gone.some(e => e.closest(`.bd-sidebar-${bar}`))
                && !shown(document.querySelector(`.${bar}-toggle`)))
                found.push(`no button opens the ${bar} sidebar`);
        say("not to be reached", gone.filter(
            e => !e.closest(".bd-sidebar-primary, .bd-sidebar-secondary")));
        const out = { cut: ({ right }) => right > W + 1, "left of it": ({ left }) => left < -1 };
        for (const [where, is] of Object.entries(out)) say(where, seen.filter(e => {
            const box = e.getBoundingClientRect();
            return box.width && is(box) && ![...up(e)].some(scrolls);
        }));
        const told = e => [...e.childNodes].some(part => part.nodeType === 3 && part.data.trim());
        say("letters too small to be read", seen.filter(
            e => told(e) && parseFloat(getComputedStyle(e).fontSize) < 8));
        say("scrolls without a cue", seen.filter(e => scrolls(e)
            && e.scrollWidth > e.clientWidth + 2 && ![...up(e)].some(b => b.matches(".more"))));
        say("a figure too small to be read", seen.filter(
            e => e.matches(".cell_output img")
            && e.getBoundingClientRect().width < Math.max(300, 0.75 * e.naturalWidth)));
        say("a column of one word a line", seen.filter(e => {
            if (!e.matches("td, th")) return false;
            const line = parseFloat(getComputedStyle(e).lineHeight) || 20;
            const lines = Math.round(e.clientHeight / line);
            const words = e.textContent.trim().split(/\\s+/).length;
            return words > 3 && lines >= words && e.clientWidth < 120;
        }));
        say("the way to the next page is cut", [...document.querySelectorAll(".prev-next-title")]
            .filter(e => {
                const words = document.createRange(), way = e.closest("a").getBoundingClientRect();
                words.selectNodeContents(e);
                const { left, right } = words.getBoundingClientRect();
                return left < way.left - 1 || right > way.right + 1;
            }));
        return found;
    }""".replace("SEEN", SEEN).replace("NAME", NAME)
    )


def paper(visit: Opened) -> list[str]:
    """On paper, where the page then stays, nothing is cut, colours that mean something are printed,
    and what steers is gone."""
    badges = """() => [...document.querySelectorAll("article [style*='border-radius:.6em'],"
        + "article [role=img]")].filter(e => e.checkVisibility()).length"""
    shown = visit.ask(badges)
    visit.page.emulate_media(media="print")
    with_size(visit, A4)
    found = visit.ask(
        """() => {
        const W = document.documentElement.clientWidth, found = [];
        const wide = SEEN.filter(e => {
            const { left, right } = e.getBoundingClientRect();  // a formula grows to the left
            return left < -1 || right > W + 1
                || (e.matches("pre") && e.scrollWidth > e.clientWidth + 2);
        });
        wide.slice(0, 3).forEach(e => found.push("cut on paper: " + (NAME)(e)));
        for (const part of document.querySelectorAll(
            ".bd-sidebar, .bd-header-article, .prev-next-footer, .copybtn"))
            if (part.checkVisibility()) found.push("printed: " + (NAME)(part));
        const colour = getComputedStyle(document.querySelector("main")).printColorAdjust;
        if (colour !== "exact") found.push("on paper badges lose their colour");
        return found;
    }""".replace("SEEN", SEEN).replace("NAME", NAME)
    )
    if visit.ask(badges) < shown:
        found.append("on paper a badge is missing")
    return found


def with_size(visit: Opened, size: tuple[int, int]) -> None:
    """Give the page another size, and time to take it."""
    width, height = size
    visit.page.set_viewport_size({"width": width, "height": height})
    visit.ask(f"async () => {{ await {FRAMES}; await {FRAMES}; }}")


def with_theme(visit: Opened, theme: str) -> None:
    """Give the page another theme, and the colours that fade into it at once."""
    visit.ask(f"""() => {{
        document.documentElement.dataset.theme = "{theme}";
        const fades = document.getAnimations().filter(each => each instanceof CSSTransition);
        fades.forEach(each => each.finish());
    }}""")


CHECKS: tuple[Callable[[Opened], list[str]], ...] = (
    described, headings, typeset, pictures, tables, accessible, followed, dark, phone, paper, quiet
)  # fmt: skip


def faults(visit: Opened, screens: int) -> list[str]:
    """All that is wrong with a page, on a laptop, in the dark, on a phone and on paper."""
    found = short(visit, screens)
    for check in CHECKS:
        found += check(visit)
    return found
