package httpsign

import (
	"net/http"
	"testing"
)

func BenchmarkSign(b *testing.B) {
	s := newSigner(b)
	header := make(http.Header, 3)
	b.ReportAllocs()
	for b.Loop() {
		s.Sign(header, "https", "a.example", noon)
	}
}

func BenchmarkVerify(b *testing.B) {
	v := verifierAt(noon, testKey(b).Public())
	r := signed(b)
	b.ReportAllocs()
	for b.Loop() {
		clear(v.used)
		if _, err := v.Verify(r); err != nil {
			b.Fatal(err)
		}
	}
}
