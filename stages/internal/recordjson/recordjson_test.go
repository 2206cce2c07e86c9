package recordjson

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

var texts = []string{
	`{"id":17,"host":"web-17.example.org","status":404,"took":12.75,"ok":true,"tags":["a","b"],"user":{"name":"Ann","at":null}}`,
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `-1`, `1e3`, `1E-7`, `1.50`, `999`, `1000`, `123456789012345`, `1234567890123456`,
	`-123456789012345678901234567890`, `1e400`, `-1e-400`, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `--1`, `0x1`, `NaN`, `1 2`, ` 7 `,
	`""`, `"a"`, `"Ω"`, `"a\nb"`, `"\u00e9\ud834\udd1e"`, `"\ud834"`, `"\x"`, `"\`, `"`, "\"a\nb\"", "\"\x7f\"", "\"\xff\"", `"<&>"`, "\"\u2028\"",
	`{"a":1,"a":2}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{a:1}`, `{"a":1`, `[1,]`, `[1 2]`, `[`, `]`, ``, ` `, `tru`, `nul`, `truex`,
	"\t{ \"a\" : [ 1 , { } ] }\r\n", `{"":""}`, `{"a\tb":"\/"}`, strings.Repeat("[", 99) + strings.Repeat("]", 99),
	strings.Repeat("[", 20_000), strings.Repeat("[", 500) + strings.Repeat("]", 500), `{"long":"` + strings.Repeat("x", 2*mostShared) + `"}`,
}

// check holds a text against encoding/json: what it is read as, and what that is written as.
func check(t *testing.T, d *Decoder, text string) {
	t.Helper()
	var want any
	wantErr := json.Unmarshal([]byte(text), &want)
	got, err := d.Decode(text)
	if !reflect.DeepEqual(err, wantErr) || err == nil && !reflect.DeepEqual(got, want) {
		t.Fatalf("%.200q is read as %v, %v; want %v, %v", text, got, err, want, wantErr)
	}
	if err == nil {
		checkAppend(t, got)
	}
}

func checkAppend(t *testing.T, v any) {
	t.Helper()
	want, wantErr := json.Marshal(v)
	var e Encoder
	for range 2 { // the second time, it knows the names
		got, err := e.Append([]byte("before"), v)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() || string(got) != "before"+string(want) {
			t.Fatalf("%.200v is written as %.200s, %v; want %.200s, %v", v, got, err, want, wantErr)
		}
		_, _ = e.Append(nil, map[string]any{"other": 1}) // or knows others
		_, _ = e.Append(nil, v)
	}
}

func TestTextsAreReadAndWrittenAsByEncodingJSON(t *testing.T) {
	var d Decoder
	for _, text := range texts {
		check(t, &d, text)
	}
}

func TestValuesAreWrittenAsByEncodingJSON(t *testing.T) {
	deep := any("x")
	for range 150 {
		deep = []any{deep}
	}
	for _, v := range []any{
		math.NaN(), math.Inf(1), math.Copysign(0, -1), 1e-6, 9.9e-7, 1e20, 1e21, -1e21, 5e-324, math.MaxFloat64, 1 << 53, 123456.789,
		7, int64(-7), uint8(7), "\x00\x7f\"\\<>&", "\xff", "\u2028\u2029\ufffd", time.Unix(0, 0).UTC(), json.Number("1.0"), json.RawMessage(`{"a": 1}`),
		map[string]any(nil), []any(nil), []string{"a"}, map[string]any{"b": 1, "a": []any{}, "": nil, "é<": map[string]string{"x": "y"}},
		[]any{1.5, math.NaN()}, map[string]any{"f": func() {}}, deep,
	} {
		checkAppend(t, v)
	}
}

// TestStringsOfLongTextsDoNotKeepThem holds that who keeps a field of a long record does not keep all of it.
func TestStringsOfLongTextsDoNotKeepThem(t *testing.T) {
	var d Decoder
	for filler, most := range map[int]float64{0: 2, 2 * mostShared: 4} {
		text := `{"a":"some text of a field","b":"` + strings.Repeat("x", filler) + `"}`
		allocated := testing.AllocsPerRun(100, func() {
			if _, err := d.Decode(text); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("a text of %d bytes: %v allocations", len(text), allocated)
		if filler > 0 && allocated < most {
			t.Errorf("a text of %d bytes was read with %v allocations: its strings share its memory", len(text), allocated)
		}
	}
}

func FuzzAsEncodingJSON(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d Decoder
		check(t, &d, text)
		check(t, &d, text) // now it knows how many fields there are
		checkAppend(t, text)
	})
}

func BenchmarkDecode(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		var d Decoder
		b.ReportAllocs()
		for b.Loop() {
			_, _ = d.Decode(texts[0])
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var v any
			_ = json.Unmarshal([]byte(texts[0]), &v)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	var d Decoder
	v, _ := d.Decode(texts[0])
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		var buffer []byte
		var e Encoder
		for b.Loop() {
			buffer, _ = e.Append(buffer[:0], v)
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = json.Marshal(v)
		}
	})
}
