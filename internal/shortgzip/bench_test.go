package shortgzip

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// meta is like the record of meta-information of a page with so many links.
func meta(links int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:6b2d1a37-9f4e-4c58-8a0d-5f1c2e7b9d30>\r\nWARC-Date: 2026-09-21T14:13:20Z\r\n" +
		"WARC-Target-URI: http://docs.example.org/library/ossaudiodev.html\r\nWARC-Block-Digest: sha256:MFRGGZDFMZTWQ2LKNNWG23TPOBYXE43UOV3HO6DZPJXWG4TBON2GK3TF\r\n" +
		"Content-Type: application/xml\r\nContent-Length: 600\r\n\r\n" + `<meta xmlns="urn:webrace:1" status="200" size="70123" etag="&quot;12345&quot;" fetched="2026-09-21T14:13:20Z">` +
		`<url>http://docs.example.org/library/ossaudiodev.html</url><header name="Content-Type">text/html; charset=utf-8</header>`)
	for range links {
		fmt.Fprintf(&b, `<link href="http://docs.example.org/library/module-%d.html"/>`, r.IntN(500))
	}
	return []byte(b.String() + "</meta>\r\n\r\n")
}

func BenchmarkShort(b *testing.B) {
	for _, links := range []int{2, 20, 88, 400} {
		content := meta(links)
		var out bytes.Buffer
		z, _ := gzip.NewWriterLevel(&out, 1)
		b.Run(fmt.Sprintf("gzip-%d", len(content)), func(b *testing.B) {
			for b.Loop() {
				out.Reset()
				z.Reset(&out)
				z.Write(content)
				z.Close()
			}
			b.ReportMetric(float64(out.Len()), "out")
		})
		b.Run(fmt.Sprintf("short-%d", len(content)), func(b *testing.B) {
			var member []byte
			for b.Loop() {
				member = Append(member[:0], content)
			}
			b.ReportMetric(float64(len(member)), "out")
		})
	}
}
