package mqtt

import (
	"fmt"
	"strings"
)

// Template is a topic with the name of a sensor in it: sensors/{name}/temperature.
type Template struct{ before, after string }

const placeholder = "{name}"

// ParseTemplate reads a template.
func ParseTemplate(text string) (Template, error) {
	before, after, ok := strings.Cut(text, placeholder)
	switch rest := before + after; {
	case !ok:
		return Template{}, fmt.Errorf("topic %q has no %s; want such as sensors/{name}/temperature", text, placeholder)
	case strings.ContainsAny(rest, "{}"):
		return Template{}, fmt.Errorf("topic %q: %s stands in it once, and there are no other braces", text, placeholder)
	case strings.ContainsAny(rest, "+#\x00"):
		return Template{}, fmt.Errorf("topic %q: %s takes the place of a wildcard; leave + and # out", text, placeholder)
	}
	return Template{before, after}, nil
}

// Topic returns the topic of a sensor. Names with wildcards are errors.
func (t Template) Topic(name string) (string, error) {
	if name == "" || strings.ContainsAny(name, "+#\x00") {
		return "", fmt.Errorf("the name %q cannot be part of a topic; give the sensor another one under world.names", name)
	}
	return t.before + name + t.after, nil
}

// Name returns the name in a topic; false if it is not one of the template.
func (t Template) Name(topic string) (string, bool) {
	rest, begins := strings.CutPrefix(topic, t.before)
	name, ends := strings.CutSuffix(rest, t.after)
	return name, begins && ends && name != ""
}

// Filter returns what hears all names at once; false if they are not whole levels.
func (t Template) Filter() (string, bool) {
	begins := t.before == "" || strings.HasSuffix(t.before, "/")
	ends := t.after == "" || strings.HasPrefix(t.after, "/")
	return t.before + "+" + t.after, begins && ends
}
