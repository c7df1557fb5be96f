package serve

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// keys presses keys where the focus is.
func (p *tab) keys(list ...string) {
	p.t.Helper()
	for _, k := range list {
		p.do(chromedp.KeyEvent(k))
	}
}

// focus puts the focus where Tab would.
func (p *tab) focus(selector string) {
	p.t.Helper()
	evaluate[any](p, fmt.Sprintf(`document.querySelector(%q).focus({ focusVisible: true })`, selector))
}

// setting is the present value of a control in the page's script.
func setting(name string) string {
	return fmt.Sprintf(`(c => wdgnn.last.frame.settings[c.findIndex(o => o.name === %q)])(wdgnn.scene().controls)`, name)
}

// differ is by how much nodes of the map differ, as a share of what was learned.
const differ = `(() => {
	const { cells, columns } = wdgnn.taps(), n = cells.length / columns;
	let all = 0, apart = 0;
	for (let k = 0; k < columns; k++) {
		let sum = 0;
		for (let i = 0; i < n; i++) sum += cells[i * columns + k] / n;
		for (let i = 0; i < n; i++) { all += cells[i * columns + k] ** 2; apart += (cells[i * columns + k] - sum) ** 2; }
	}
	return Math.sqrt(apart / Math.max(all, 1));
})()`

// The knobs of the demo, the map of the taps and the words beside them.
func TestPageKnobs(t *testing.T) {
	p := newTab(t)
	_, url := demoing(t)
	p.open(url)
	p.wait(`wdgnn.last.frame?.t > 0 && !document.getElementById("knobs").hidden && !document.getElementById("heat").hidden`)
	t.Run("words", func(t *testing.T) { testWords(p) })
	t.Run("knobs", func(t *testing.T) { testKnobs(p) })
	p.clean(url)
}

// A word is explained on hover and on focus, for those who listen too, until Escape.
func testWords(p *tab) {
	p.wait(`document.getElementById("skip") && !document.getElementById("story").hidden`)
	evaluate[any](p, `document.getElementById("skip").click()`)
	p.wait(`document.getElementById("caption").textContent.startsWith("Your turn") && document.querySelector("#caption dfn[data-word=link]")`)
	shown := `!document.getElementById("wordtip").hidden && document.getElementById("wordtip").textContent`
	for _, c := range []struct{ selector, word, want string }{
		{"[name=knob-learner][value='1']", "paper", "to the letter (eq. 9)"},
		{"[name=knob-learner][value='2']", "neighbours", "It sends no taps."},
		{"#heat dfn", "tap", "Taps are what is learned online."},
		{"#charts .names [data-word=frozen]", "frozen", "It never learns again"},
		{"#charts h2 dfn", "answer", "the community in which it believes the pulse started"},
		{"#caption dfn[data-word=link]", "link", "Two nodes that hear each other."},
	} {
		p.focus(c.selector)
		p.wait(fmt.Sprintf(`(%s).includes(%q)`, shown, c.want))
		described := evaluate[string](p, `document.getElementById(document.activeElement.getAttribute("aria-describedby")).textContent`)
		if seen := evaluate[string](p, shown); seen != c.word+" "+described {
			p.t.Errorf("%s: those who look read %q, those who listen %q", c.selector, seen, described)
		}
		p.keys(kb.Escape)
		p.wait(`document.getElementById("wordtip").hidden`)
	}
	evaluate[any](p, `document.activeElement.blur()`)
	evaluate[any](p, `document.querySelector("#knobs label[for=knob-told]").dispatchEvent(new PointerEvent("pointerover", { bubbles: true }))`)
	p.wait(fmt.Sprintf(`(%s).includes("learns from these and from no other")`, shown))
	evaluate[any](p, `document.querySelector("#knobs label[for=knob-told]").dispatchEvent(new PointerEvent("pointerout", { bubbles: true }))`)
	p.wait(`document.getElementById("wordtip").hidden`)
	evaluate[any](p, `document.querySelector("#heat dfn").dispatchEvent(new PointerEvent("click", { bubbles: true, pointerType: "touch" }))`)
	p.wait(fmt.Sprintf(`(%s).startsWith("tap ")`, shown)) // a finger does not hover
	p.keys(kb.Escape)
	p.wait(`document.getElementById("wordtip").hidden`)

	p.focus("#heat canvas") // the map is read from tap to tap
	p.keys(kb.ArrowDown, kb.ArrowRight, kb.ArrowRight)
	p.wait(`/^node 0, community A.*: hop 0 for community C /.test(document.querySelector("#heat .cell").textContent)`)
	p.keys(kb.Escape)
	p.wait(`document.querySelector("#heat .cell").textContent === ""`)
}

// Each knob is turned from the keyboard, the process does what it says, and it is seen
// in the map of the taps, the curves and the marks.
func testKnobs(p *tab) {
	p.slide("[data-control=speed]", 1000)
	evaluate[any](p, `document.getElementById("again").click()`)
	p.wait(`wdgnn.story.act() === 0`) // the minute has begun

	p.focus("#knob-drop")
	p.keys(kb.End)
	p.wait(setting("drop") + ` === 0.6 && wdgnn.last.frame.out.length > 200`)
	p.wait(`wdgnn.story.act() === 4`) // it is somebody's turn
	p.wait(`document.querySelector("#knobs output[for=knob-drop]").textContent === "60 % asked"`)
	const found = `document.querySelector("#knob-drop ~ .ends .found").textContent`
	p.wait(`(n => ` + found + ` === n + " of 384 lost, " + Math.round(n / 3.84) + " %")(wdgnn.last.frame.out.length)`)
	p.wait(`wdgnn.marks().some(m => m.text === wdgnn.last.frame.out.length + " links lost")`)

	p.focus("[name=knob-learner][value='2']")
	p.keys(kb.ArrowRight) // own
	p.wait(setting("learner") + ` === 3 && wdgnn.taps().learner === 3`)
	p.wait(differ + ` > 0.8`)          // own taps
	p.keys(kb.ArrowLeft, kb.ArrowLeft) // paper
	p.wait(setting("learner") + ` === 1 && wdgnn.marks().some(m => m.text === "on show: paper (eq. 9)")`)
	p.wait(differ + ` < 0.3`) // consensus
	p.wait(`/^One colour per column/.test(document.querySelector("#heat .caption").textContent)`)

	p.focus("[name=knob-liar][value='0']")
	p.keys(kb.ArrowRight, kb.ArrowRight) // about its taps
	p.wait(setting("liar") + ` === 2 && wdgnn.last.frame.liars.length === 1`)
	p.wait(`wdgnn.last.frame.curves[1] < wdgnn.last.frame.curves[0] - 10`) // paper, which mixes, and frozen

	p.focus("#knob-told")
	p.keys(kb.Home)
	p.wait(setting("told") + ` === 0 && wdgnn.marks().some(m => m.text === "0 % of answers heard")`)

	begun := evaluate[float64](p, `wdgnn.last.frame.t`)
	p.focus("#knobs [data-control=reset]")
	p.keys(kb.Enter)
	p.wait(fmt.Sprintf(`wdgnn.curves.times().length > 3 && wdgnn.curves.times()[0] >= %v`, begun)) // charts start again
	p.wait(`wdgnn.marks().length === 1 && wdgnn.marks()[0].text === "reset" && wdgnn.marks()[0].t <= wdgnn.curves.times()[0]`)
	p.wait(setting("learner") + ` === 2 && ` + setting("told") + ` === 1 && ` + setting("liar") + ` === 0`)
	p.wait(`document.querySelector("[name=knob-learner][value='2']").checked && document.querySelector("#knob-told").value === "1"`)
}
