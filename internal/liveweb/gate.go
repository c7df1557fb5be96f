package liveweb

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/wdgnn/wdgnn/internal/hostname"
)

// Gate decides who may come in. Without a token, only requests that mean this
// machine by its own name do: a web page that made its own name point here does
// not. With a token, those that bear it. What a page of another site has a browser
// send changes nothing either way.
type Gate struct {
	tokens [][sha256.Size]byte // hashes of the tokens
}

// NewGate returns a gate for the tokens in a text, one a line.
func NewGate(tokens string) (g Gate) {
	for token := range strings.Lines(tokens) {
		if token = strings.TrimSpace(token); token != "" {
			g.tokens = append(g.tokens, sha256.Sum256([]byte(token)))
		}
	}
	return g
}

// foreign finds requests by which a page of another site would change something.
var foreign http.CrossOriginProtection

var errForeign = Problemf(http.StatusForbidden, "cross_site", "the request comes from a page of another site")

// Admit returns a problem with a request, or nil. What is open needs no token.
func (g *Gate) Admit(w http.ResponseWriter, r *http.Request, open bool) error {
	if foreign.Check(r) != nil {
		return errForeign
	}
	if len(g.tokens) == 0 {
		if host := hostname.Of(r.Host); !hostname.Loopback(host) {
			return Problemf(http.StatusMisdirectedRequest, "wrong_host", "host %.60q is not this machine", host)
		}
		return nil
	}
	if !open && g.Bearer(r) == "" {
		w.Header().Set("WWW-Authenticate", `Bearer realm="wdgnn"`)
		return Problemf(http.StatusUnauthorized, "unauthorized", "no token, or a wrong one").Hint("-H 'Authorization: Bearer TOKEN'")
	}
	return nil
}

// Bearer returns the hash of the token that the request bears, "" for none. Hashes are
// compared, in a time that does not depend on where they differ.
func (g *Gate) Bearer(r *http.Request) (found string) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	for k := range g.tokens {
		if subtle.ConstantTimeCompare(sum[:], g.tokens[k][:]) == 1 && strings.EqualFold(scheme, "Bearer") {
			found = string(g.tokens[k][:])
		}
	}
	return found
}

// CheckMethod returns a problem with the method of a request, or nil.
func CheckMethod(w http.ResponseWriter, r *http.Request, method, path string) error {
	if method != "" && r.Method != method && !(method == http.MethodGet && r.Method == http.MethodHead) {
		w.Header().Set("Allow", method)
		return Problemf(http.StatusMethodNotAllowed, "wrong_method", "%.20s %s; want %s", r.Method, path, method)
	}
	return nil
}
