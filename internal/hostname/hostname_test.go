package hostname

import "testing"

// A page that made its own name point here does not get in.
func TestMeans(t *testing.T) {
	for _, c := range []struct {
		listens, header string
		want            bool
	}{
		{"127.0.0.1:9100", "127.0.0.1:9100", true},
		{"127.0.0.1:9100", "localhost:9100", true},
		{"127.0.0.1:9100", "localhost", true},
		{"[::1]:9100", "[::1]:9100", true},
		{"localhost:9100", "127.0.0.1:9100", true},
		{"127.0.0.1:9100", "evil.example:9100", false},
		{"127.0.0.1:9100", "10.0.0.5:9100", false},
		{"127.0.0.1:9100", "", false},
		{"0.0.0.0:9100", "10.0.0.5:9100", true},
		{":9100", "10.0.0.5:9100", true},
		{"box-3:9100", "box-3:9100", true},
		{"box-3:9100", "Box-3", true},
		{"0.0.0.0:9100", "localhost:9100", true},
		{"[::]:9100", "[fe80::1]:9100", true},
		{"0.0.0.0:9100", "evil.example:9100", false},
		{":9100", "evil.example", false},
		{"box-3:9100", "evil.example", false},
		{":9100", "", false},
	} {
		if got := Means(c.listens, c.header); got != c.want {
			t.Errorf("at %s, %q: got %v, want %v", c.listens, c.header, got, c.want)
		}
	}
}
