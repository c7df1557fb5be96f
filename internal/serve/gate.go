package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/wdgnn/wdgnn/internal/hostname"
)

// gate decides who may come in. Without a token, only requests that mean this
// machine by its own name do: a web page that made its own name point here does
// not. With a token, those that bear it. What a page of another site has a browser
// send changes nothing either way.
type gate struct {
	tokens [][sha256.Size]byte // hashes of the tokens
}

// newGate returns a gate for the tokens in a text, one a line.
func newGate(tokens string) (g gate) {
	for token := range strings.Lines(tokens) {
		if token = strings.TrimSpace(token); token != "" {
			g.tokens = append(g.tokens, sha256.Sum256([]byte(token)))
		}
	}
	return g
}

// foreign finds requests by which a page of another site would change something.
var foreign http.CrossOriginProtection

var errForeign = problemf(http.StatusForbidden, "cross_site", "the request comes from a page of another site")

// admit returns a problem with a request, or nil. What is open needs no token.
func (g *gate) admit(w http.ResponseWriter, r *http.Request, open bool) error {
	if foreign.Check(r) != nil {
		return errForeign
	}
	if len(g.tokens) == 0 {
		if host := hostname.Of(r.Host); !hostname.Loopback(host) {
			return problemf(http.StatusMisdirectedRequest, "wrong_host", "host %.60q is not this machine", host)
		}
		return nil
	}
	if !open && !g.authorized(r) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="wdgnn"`)
		return problemf(http.StatusUnauthorized, "unauthorized", "no token, or a wrong one").hint("-H 'Authorization: Bearer TOKEN'")
	}
	return nil
}

// authorized says whether the request bears a token.
func (g *gate) authorized(r *http.Request) bool { return g.bearer(r) >= 0 }

// bearer returns which of the tokens the request bears, -1 for none. Hashes are
// compared, in a time that does not depend on where they differ.
func (g *gate) bearer(r *http.Request) int {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum, found := sha256.Sum256([]byte(strings.TrimSpace(token))), -1
	for k := range g.tokens {
		if subtle.ConstantTimeCompare(sum[:], g.tokens[k][:]) == 1 && strings.EqualFold(scheme, "Bearer") {
			found = k
		}
	}
	return found
}

// checkMethod returns a problem with the method of a request, or nil.
func checkMethod(w http.ResponseWriter, r *http.Request, method, path string) error {
	if method != "" && r.Method != method && !(method == http.MethodGet && r.Method == http.MethodHead) {
		w.Header().Set("Allow", method)
		return problemf(http.StatusMethodNotAllowed, "wrong_method", "%.20s %s; want %s", r.Method, path, method)
	}
	return nil
}
