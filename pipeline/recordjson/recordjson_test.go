package recordjson

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/webrace/webrace/pipeline/number"
)

var texts = []string{
	`{"id":17,"host":"web-17.example.org","status":404,"took":12.75,"ok":true,"tags":["a","b"],"user":{"name":"Ann","at":null}}`,
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `-1`, `1e3`, `1E-7`, `1.50`, `999`, `1000`, `123456789012345`, `1234567890123456`,
	`-123456789012345678901234567890`, `1e400`, `-1e-400`, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `--1`, `0x1`, `NaN`, `1 2`, ` 7 `,
	`""`, `"a"`, `"Ω"`, `"a\nb"`, `"\u00e9\ud834\udd1e"`, `"\ud834"`, `"\x"`, `"\`, `"`, "\"a\nb\"", "\"\x7f\"", "\"\xff\"", `"<&>"`, "\"\u2028\"",
	`{"a":1,"a":2}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{a:1}`, `{"a":1`, `[1,]`, `[1 2]`, `[`, `]`, ``, ` `, `tru`, `nul`, `truex`,
	"\t{ \"a\" : [ 1 , { } ] }\r\n", `{"":""}`, `{"a\tb":"\/"}`, strings.Repeat("[", 99) + strings.Repeat("]", 99),
	`9007199254740993`, `[2882429806056571124,1.10,0.12345678901234567890]`, `{"a":{"b":[1.0,1e0,-0.0]}}`, `"\ud834\u0041"`, `"\udd1e\ud834"`, `{"\ud834":"\\ud834"}`, `[1e400`,
	strings.Repeat("[", 20_000), strings.Repeat("[", 500) + strings.Repeat("]", 500), `{"long":"` + strings.Repeat("x", 2*mostShared) + `"}`,
}

// check holds a text against encoding/json: what it is read as, and what that is written as.
func check(t *testing.T, d *Decoder, text string) {
	t.Helper()
	var want any
	reader := json.NewDecoder(strings.NewReader(text))
	reader.UseNumber()
	wantErr := json.Unmarshal([]byte(text), new(json.RawMessage))
	if wantErr == nil {
		wantErr = reader.Decode(&want)
	}
	got, err := d.Decode(text)
	want, inRange := exact(want)
	switch {
	case wantErr == nil && !inRange:
		if !errors.Is(err, number.ErrRange) {
			t.Fatalf("%.200q is read as %v, %v", text, got, err)
		}
	case errors.Is(err, number.ErrRange): // in a text that is no JSON further on
		if wantErr == nil {
			t.Fatalf("%.200q: %v", text, err)
		}
	case !reflect.DeepEqual(err, wantErr) || err == nil && !reflect.DeepEqual(got, want):
		t.Fatalf("%.200q is read as %v, %v; want %v, %v", text, got, err, want, wantErr)
	}
	if err == nil {
		checkAppend(t, got)
	}
}

// exact makes numbers of a record of those of encoding/json; false if one is beyond their range.
func exact(v any) (any, bool) {
	ok := true
	switch v := v.(type) {
	case []any:
		for i := range v {
			n, inRange := exact(v[i])
			v[i], ok = n, ok && inRange
		}
	case map[string]any:
		for name := range v {
			n, inRange := exact(v[name])
			v[name], ok = n, ok && inRange
		}
	case json.Number:
		f, err := v.Float64()
		written, _ := json.Marshal(f)
		switch mantissa, _, _ := strings.Cut(strings.ToLower(v.String()), "e"); {
		case err != nil || f == 0 && strings.ContainsAny(mantissa, "123456789"):
			return nil, false
		case string(written) == v.String() && (math.Trunc(f) != f || math.Abs(f) <= 1<<53):
			return f, true
		}
	}
	return v, ok
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

func TestFlawsAreToldOf(t *testing.T) {
	for text, want := range map[string]struct {
		flaws Flaws
		at    int
		err   error
	}{
		`{"a":1,"b":{"a":2},"c":"\ud834\udd1e \\ud834 Ω"}`: {},
		"{\"a\":\"\u2126\xff\"}":                           {Flaws{InvalidText: true}, 9, ErrNotUTF8},
		"\xff":                                             {Flaws{InvalidText: true}, 0, ErrNotUTF8},
		"[\"\ufffd\"]":                                     {},
		`["a\ud834"]`:                                      {Flaws{InvalidText: true}, 3, ErrSurrogate},
		`["\ud834\ud834\udd1e"]`:                           {Flaws{InvalidText: true}, 2, ErrSurrogate},
		`["\udd1e"]`:                                       {Flaws{InvalidText: true}, 2, ErrSurrogate},
		`{"a":"\n\uD834\n"}`:                               {Flaws{InvalidText: true}, 8, ErrSurrogate},
		`{"\udd1e":1}`:                                     {Flaws{InvalidText: true}, 2, ErrSurrogate},
		`{"a":1,"\u0061":2}`:                               {Flaws{DuplicateNames: true}, 7, ErrDuplicate},
		`[{"b":{"a":1, "a":null}}]`:                        {Flaws{DuplicateNames: true}, 14, ErrDuplicate},
		`{"a":1,"a":"\ud834"}`:                             {Flaws{DuplicateNames: true, InvalidText: true}, 12, ErrSurrogate},
	} {
		var lenient Decoder
		if _, err := lenient.Decode(text); lenient.Flaws != want.flaws || err != nil && json.Valid([]byte(text)) {
			t.Errorf("%q: %+v, %v", text, lenient.Flaws, err)
		}
		strict := Decoder{Strict: true}
		_, err := strict.Decode(text)
		var wrong *Error
		if want.err == nil && err != nil || want.err != nil && (!errors.Is(err, want.err) || !errors.As(err, &wrong) || wrong.Offset != want.at) {
			t.Errorf("%q strictly: %v; want %v at byte %d", text, err, want.err, want.at)
		}
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
		flaws := d.Flaws
		strict := Decoder{Strict: true}
		if v, err := strict.Decode(text); err == nil && (flaws != Flaws{} || !utf8.ValidString(text)) {
			t.Fatalf("%q is read strictly as %v, with %+v", text, v, flaws)
		}
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
