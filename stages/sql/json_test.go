package sql

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzJSON holds that what is written is JSON, whose values are those that were given.
func FuzzJSON(f *testing.F) {
	f.Add("a\n\"\\\x00\u2028é", int64(math.MinInt64), uint64(math.MaxUint64), math.Inf(1), int64(1e9))
	f.Add("\xff\xc3", int64(1<<53+1), uint64(0), 1e-7, int64(-62135596800))
	f.Add("-0.10e+5", int64(0), uint64(1), 0.1, int64(0))
	f.Fuzz(func(t *testing.T, text string, i int64, u uint64, x float64, at int64) {
		when := time.Unix(at%1e11, 0).UTC()
		b := []byte(`{"i":`)
		b = append(appendValue(b, i, plain), `,"u":`...)
		b = append(appendValue(b, u, plain), `,"x":`...)
		b = append(appendValue(b, x, plain), `,"single":`...)
		b = append(appendValue(b, float32(x), plain), `,"text":`...)
		b = append(appendValue(b, text, plain), `,"bytes":`...)
		b = append(appendValue(b, []byte(text), plain), `,"number":`...)
		b = append(appendValue(b, text, exact), `,"json":`...)
		b = append(appendValue(b, text, embedded), `,"at":`...)
		b = append(appendValue(b, when, plain), `,"null":`...)
		b = append(appendValue(b, nil, plain), '}')
		d := json.NewDecoder(strings.NewReader(string(b)))
		d.UseNumber()
		var got struct {
			I           int64
			U           uint64
			X, Single   any
			Text, Bytes string
			Number      json.RawMessage
			JSON        json.RawMessage
			At          string
			Null        *int
		}
		if err := d.Decode(&got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		want := text
		if !utf8.ValidString(text) {
			want = base64.StdEncoding.EncodeToString([]byte(text))
		}
		if got.I != i || got.U != u || got.Text != want || got.Bytes != want || got.Null != nil {
			t.Fatalf("%d %d %q became %s", i, u, text, b)
		}
		if n, ok := got.X.(json.Number); ok {
			if back, err := n.Float64(); back != x || err != nil {
				t.Fatalf("%v became %s", x, n)
			}
		} else if !math.IsNaN(x) && !math.IsInf(x, 0) {
			t.Fatalf("%v became %v", x, got.X)
		}
		for name, raw := range map[string]json.RawMessage{"number": got.Number, "json": got.JSON} {
			var number json.Number
			var inner string
			switch {
			case string(raw) == text && (name == "json" || json.Unmarshal(raw, &number) == nil):
			case json.Unmarshal(raw, &inner) == nil && inner == want:
			case name == "json" && strings.TrimSpace(text) == string(raw):
			default:
				t.Fatalf("%s: %q became %s", name, text, raw)
			}
		}
		if back, err := time.Parse(time.RFC3339Nano, got.At); when.Year() >= 0 && when.Year() < 10000 && (err != nil || !back.Equal(when)) {
			t.Fatalf("%v became %s", when, got.At)
		}
	})
}

// TestNumbersOfJSON: what is written as it is, is a number there.
func TestNumbersOfJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"0": true, "-0": true, "10": true, "1.50": true, "1e5": true, "-1.0E-05": true, "12345678901234567890.1": true,
		"": false, "-": false, "01": false, "1.": false, ".5": false, "1e": false, "+1": false, "NaN": false, "1 ": false, "0x1": false, "1_0": false, "-01": false,
	} {
		if isNumber(text) != want || json.Valid([]byte(text)) != want && strings.TrimSpace(text) == text {
			t.Errorf("%q: %v", text, isNumber(text))
		}
	}
}

// FuzzPages holds that what a page shows of a text is that text, and that nothing of it is markup.
func FuzzPages(f *testing.F) {
	f.Add("a < b & \"c\" &amp; <script>")
	f.Add("one\r\n\r\ntwo\n\n\nthree\x00")
	f.Fuzz(func(t *testing.T, text string) {
		shown := string(appendHTML(nil, text, plain))
		want := strings.ReplaceAll(string(appendUTF8(nil, []byte(text))), "\x00", "\uFFFD")
		if strings.Contains(want, "\n") {
			want = strings.ReplaceAll(want, "\r\n", "\n")
		}
		bare := strings.NewReplacer("<p>", "", "</p>\n", "\n\n").Replace(shown)
		if strings.Contains(shown, "<p>") {
			bare = strings.TrimSuffix(bare, "\n\n")
		}
		if strings.ContainsAny(bare, "<>\"") || html.UnescapeString(bare) != want {
			t.Fatalf("%q is shown as %q", text, shown)
		}
	})
}
