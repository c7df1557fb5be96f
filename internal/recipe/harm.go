package recipe

import (
	_ "embed"
	"strings"
	"text/template"

	"github.com/wdgnn/wdgnn/rule"
)

//go:embed harm.tmpl
var harmText string

var harm = template.Must(template.New("harm").Parse(strings.TrimSpace(harmText)))

// Harm says that a learner did harm: that its share of wrong answers to the
// last signals is more than 1.5 times that of the model as trained. Accuracies are
// in %, usual that of the model as trained on all signals; it is empty if there was
// no harm.
func Harm(name string, learned, frozen, usual float64) string {
	c := rule.Comparison{Steps: 1, Learned: 100 - learned, Frozen: 100 - frozen, Usual: 100 - usual}
	if !c.Harmful() {
		return ""
	}
	var b strings.Builder
	if err := harm.Execute(&b, map[string]any{"Name": name, "Learned": c.Learned, "Frozen": c.Frozen}); err != nil {
		panic("recipe: " + err.Error()) // the template does not fit
	}
	return b.String()
}
