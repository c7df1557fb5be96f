package serve

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wdgnn/wdgnn/internal/liveweb"
)

// object is a part of openapi.json.
type object = map[string]any

func description(t *testing.T) object {
	t.Helper()
	var doc object
	if err := json.Unmarshal(openapi, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// The description has every route, and no other.
func TestOpenAPIRoutes(t *testing.T) {
	var got, want []string
	for path, item := range description(t)["paths"].(object) {
		for method := range item.(object) {
			got = append(got, strings.ToUpper(method)+" "+path)
		}
	}
	for _, r := range table {
		want = append(want, r.method+" "+r.path)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("described %q, served %q", got, want)
	}
}

// Answers are what the description says: the status is listed, and the body
// fits its schema, with no field that is not described.
func TestOpenAPIAnswers(t *testing.T) {
	r, doc := start(t, nil, Config{}), description(t)
	rating := func(v any) string {
		return fmt.Sprintf(`{"user": 1, "movie": %d, "rating": %v}`, r.known, v)
	}
	for _, c := range []struct{ method, path, url, body string }{
		{"GET", "/v1/users/{id}/predictions", "/v1/users/1/predictions?top=3", ""},
		{"GET", "/v1/users/{id}/predictions", fmt.Sprintf("/v1/users/1/predictions?movies=%d", r.known), ""},
		{"GET", "/v1/users/{id}/predictions", "/v1/users/1/predictions", ""},
		{"GET", "/v1/users/{id}/predictions", "/v1/users/999/predictions?top=3", ""},
		{"GET", "/v1/users/{id}/ratings", "/v1/users/1/ratings", ""},
		{"GET", "/v1/users/{id}/ratings", "/v1/users/999/ratings", ""},
		{"POST", "/v1/ratings", "/v1/ratings", rating(2)},
		{"POST", "/v1/ratings", "/v1/ratings", rating(9)},
		{"POST", "/v1/ratings", "/v1/ratings", "{}"},
		{"POST", "/v1/ratings", "/v1/ratings", strings.Repeat(" ", liveweb.MaxBody+1)},
		{"GET", "/v1/model", "/v1/model", ""},
		{"GET", "/healthz", "/healthz", ""},
		{"GET", "/openapi.json", "/openapi.json", ""},
	} {
		a := r.do(t, c.method, c.url, c.body)
		responses := doc["paths"].(object)[c.path].(object)[strings.ToLower(c.method)].(object)["responses"].(object)
		response, ok := responses[fmt.Sprint(a.status)].(object)
		if !ok {
			t.Errorf("%s %s: status %d is not described", c.method, c.url, a.status)
			continue
		}
		var body any
		if err := json.Unmarshal([]byte(a.body), &body); err != nil {
			t.Errorf("%s %s: %v", c.method, c.url, err)
			continue
		}
		schema := response["content"].(object)["application/json"].(object)["schema"].(object)
		if complaint := fits(doc, schema, body, "body"); complaint != "" {
			t.Errorf("%s %s: %s", c.method, c.url, complaint)
		}
	}
}

// fits returns how a value differs from its schema, or nothing.
func fits(doc, schema object, v any, where string) string {
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		schema = doc["components"].(object)["schemas"].(object)[name].(object)
	}
	switch schema["type"] {
	case "object":
		o, ok := v.(object)
		if !ok {
			return where + " is not an object"
		}
		properties, _ := schema["properties"].(object)
		if schema["additionalProperties"] == false {
			for name := range o {
				if properties[name] == nil {
					return where + "." + name + " is not described"
				}
			}
		}
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, ok := o[name.(string)]; !ok {
				return fmt.Sprintf("%s.%s is missing", where, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if value, ok := o[name]; ok {
				if complaint := fits(doc, properties[name].(object), value, where+"."+name); complaint != "" {
					return complaint
				}
			}
		}
	case "array":
		list, ok := v.([]any)
		if !ok {
			return where + " is not a list"
		}
		for i, item := range list {
			if complaint := fits(doc, schema["items"].(object), item, fmt.Sprintf("%s[%d]", where, i)); complaint != "" {
				return complaint
			}
		}
	case "string":
		s, ok := v.(string)
		if values, limited := schema["enum"].([]any); !ok || limited && !slices.Contains(values, any(s)) {
			return fmt.Sprintf("%s is %v", where, v)
		}
	case "boolean":
		if _, ok := v.(bool); !ok {
			return fmt.Sprintf("%s is %v", where, v)
		}
	case "integer", "number":
		f, ok := v.(float64)
		if !ok || schema["type"] == "integer" && f != float64(int64(f)) {
			return fmt.Sprintf("%s is %v", where, v)
		}
	default:
		return where + " has a schema without a type"
	}
	return ""
}
