package fetch

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

	"github.com/webrace/webrace/stages/internal/httpclient"
)

// BenchmarkGet makes requests for a page of 24 KB over each kind of connection, with the server in the same
// process.
func BenchmarkGet(b *testing.B) {
	page := []byte(strings.Repeat("<p>a page of the usual size</p>\n", 750))
	handler := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) }
	for _, c := range []struct {
		name   string
		secure bool
		change func(*Options)
	}{
		{"http", false, func(*Options) {}},
		{"https", true, func(*Options) {}},
		{"http2", true, func(o *Options) { o.HTTP2 = "auto" }},
		{"signed", false, func(o *Options) { o.SignOptions = signingWith("crawler").SignOptions }},
	} {
		b.Run(c.name, func(b *testing.B) {
			o := local()
			o.InsecureHosts = []string{"127.0.0.0/8"}
			c.change(&o)
			s := newTestStage(b, o)
			if o.Sign != "" {
				var k keys
				k.set(b, o.Sign, 'a')
				k.lent(s)
			}
			url := serve(b, handler)
			if c.secure {
				_, url = secure(b, &tls.Config{}, handler)
			}
			target, err := httpclient.ParseTarget(url)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				a, err := s.client.Get(b.Context(), target, nil, 1<<20)
				if err != nil || len(a.Body) != len(page) {
					b.Fatal(err)
				}
				a.Release()
			}
		})
	}
}
