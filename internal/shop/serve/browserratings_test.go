package serve

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Predictions change after a rating, as the service says, and the page says which of
// the user's ratings speak for them, what was learned and what the user's own mean did;
// titles are shown, not read as HTML, and ids are not cut.
func TestPageRatings(t *testing.T) {
	p := newTab(t)
	r := start(t, nil, Config{Users: []int{1, 2, 3}})
	p.open(r.URL)
	p.wait(`document.querySelectorAll("#predictions tr").length === 12`)
	if n := evaluate[int](p, `document.querySelectorAll("#ratings td b").length`); n != 0 {
		t.Errorf("%d elements came from titles", n)
	}
	title := p.text("#predictions td span")
	if !strings.HasPrefix(title, "<b>No. ") {
		t.Errorf("the first title is %q", title)
	}
	const numbers = `[...document.querySelectorAll("[data-movie]")].map(e => e.dataset.movie + " " + e.textContent).join()`
	before := evaluate[string](p, numbers)
	p.do(
		chromedp.SetValue(chromedp.CSS("#movie"), title),
		chromedp.Focus(chromedp.CSS("#stars input")), chromedp.KeyEvent(" "),
		chromedp.Focus(chromedp.CSS("#give")), chromedp.KeyEvent(kb.Enter),
	)
	p.wait(`document.getElementById("lists").textContent.includes("version 1,")`)
	p.wait(`document.getElementById("answer").textContent.includes("User 1 gives 1 to <b>No. ")`)
	for selector, want := range map[string]string{
		"#predictions .because":              `^because you rated <b>No\. \d+</b> \d \([+−]0\.\d{3}\)`,
		"#predictions tr:nth-child(2) .move": `^[▲▼] [+−]0\.\d{3}your mean −0\.\d{3}this rating and learning [+−]0\.\d{3}$`,
		"#answer": `^User 1 gives 1 to <b>No\. \d+</b>\. Learning moved its prediction from [\d.]+ to [\d.]+\. ` +
			`Your own mean goes from \d\.\d\d to \d\.\d\d, and what you are told below with it\.$`,
	} {
		if got := p.text(selector); !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: got %q, want %s", selector, got, want)
		}
	}
	if cut := evaluate[bool](p, `(u => {
		u.value = "9007199254740991";
		const cut = u.scrollWidth > u.clientWidth;
		u.value = "1";
		return cut;
	})(document.getElementById("user"))`); cut {
		t.Error("an id of 16 digits is cut")
	}
	after := evaluate[string](p, numbers)
	if after == before {
		t.Errorf("predictions stay %s", before)
	}
	for _, pair := range strings.Split(after, ",") {
		id, number, _ := strings.Cut(pair, " ")
		movie, err := strconv.Atoi(id)
		if err != nil {
			t.Fatal(err)
		}
		served, err := r.service.Predict(1, []int{movie})
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("%.3f", served.List[0].Rating); number != want {
			t.Errorf("movie %d: shown %s, want %s", movie, number, want)
		}
	}
	p.wait(`document.querySelector("[data-counter='0']").textContent === "1"`)
	if got := p.text("#keys"); got != "" {
		t.Errorf("the foot of the page offers keys %q, which do nothing here", got)
	}
	testScales(p)
	p.clean(r.URL)
}

// testScales: scales with halves are picked in halves, and where ratings do not fit side
// by side a number is typed.
func testScales(p *tab) {
	for scale, want := range map[string]string{
		"{ least: 1, most: 5 }":    "1 2 3 4 5",
		"{ least: 0.5, most: 5 }":  "0.5 1 1.5 2 2.5 3 3.5 4 4.5 5",
		"{ least: 0, most: 10 }":   "0 1 2 3 4 5 6 7 8 9 10",
		"{ least: -10, most: 10 }": "number -10 to 10",
		"{ least: 0.3, most: 5 }":  "number 0.3 to 5",
	} {
		got := evaluate[string](p, `import("./page/ratings.js").then(m => m.offer(`+scale+`)).then(() =>
			[...document.querySelectorAll("#stars label")].map(l => (l.firstChild.type === "number" ? "number " : "") + l.textContent).join(" "))`,
			chromedp.EvalAwaitPromise)
		if got != want {
			p.t.Errorf("%s: got %q, want %q", scale, got, want)
		}
	}
}
