package number_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline/number"
)

func TestANumberIsAFloatWhereThatIsWrittenAlike(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"0": 0.0, "7": 7.0, "-7": -7.0, "999": 999.0, "1000": 1000.0, "-0": math.Copysign(0, -1), "0.1": 0.1, "-0.5": -0.5, "12.25": 12.25,
		"123456789012345": 123456789012345.0, "9007199254740992": 9007199254740992.0, "0.000001": 1e-6, "1e-7": 1e-7, "5e-324": 5e-324,
		"0.1234567890123456": 0.1234567890123456, "1.7976931348623157e+308": json.Number("1.7976931348623157e+308"),
		"9007199254740993": json.Number("9007199254740993"), "9007199254740994": json.Number("9007199254740994"), "1.10": json.Number("1.10"), "1.0": json.Number("1.0"), "0.0": json.Number("0.0"),
		"1e0": json.Number("1e0"), "1E-7": json.Number("1E-7"), "0.0000001": json.Number("0.0000001"), "18446744073709551615": json.Number("18446744073709551615"),
		"0.12345678901234567890": json.Number("0.12345678901234567890"), "1e21": json.Number("1e21"), "-0.0": json.Number("-0.0"), "0e999999999999": json.Number("0e999999999999"),
	} {
		if got, err := number.Of(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, %v; want %#v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-", "01", "1.", ".5", "1e", "1e+", "+1", "0x1", "NaN", "1 ", "1e309", "-1e309", "1e-400", "1e999999999999999999999", strings.Repeat("9", 400)} {
		if got, err := number.Of(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestNumbersAreComparedByWhatTheyStandFor(t *testing.T) {
	t.Parallel()
	for _, same := range [][]any{
		{1, 1.0, json.Number("1.0"), json.Number("1e0"), json.Number("10E-1"), uint64(1), uint8(1)}, {0, math.Copysign(0, -1), json.Number("-0.0"), json.Number("0e5")},
		{0.1, json.Number("0.10")}, {json.Number("9007199254740993"), 9007199254740993}, {1e23, json.Number("1e23")},
	} {
		for _, v := range same {
			a, _ := number.Key(same[0])
			b, _ := number.Key(v)
			if order, ok := number.Compare(same[0], v); order != 0 || !ok || a != b {
				t.Errorf("%v and %v are told apart: %d, keys %s and %s", same[0], v, order, a, b)
			}
		}
	}
	ascending := []any{json.Number("-1e400"), -math.MaxFloat64, -2, json.Number("-1.10"), -1.1 + 1e-9, json.Number("-1e-400"), 0, json.Number("1e-400"), 5e-324, 0.1, json.Number("0.1000000000000000055"), 1,
		9007199254740992.0, 9007199254740993, json.Number("9007199254740993.5"), json.Number("9007199254740994"), math.MaxInt64, uint64(math.MaxUint64), json.Number("18446744073709551616"), 1e300}
	for i, a := range ascending {
		for j, b := range ascending {
			if order, ok := number.Compare(a, b); !ok || order != min(max(i-j, -1), 1) {
				t.Errorf("%v to %v is %d, %t", a, b, order, ok)
			}
		}
	}
	for _, v := range []any{nil, "1", true, math.NaN(), math.Inf(1), json.Number("one"), json.Number("")} {
		if _, ok := number.Compare(v, 1); ok {
			t.Errorf("%v is compared with 1", v)
		}
		if key, ok := number.Key(v); ok {
			t.Errorf("%v has the key %s", v, key)
		}
	}
}

func TestWholeNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    any
		want int64
		ok   bool
	}{
		{7.0, 7, true}, {7.5, 7, false}, {json.Number("9223372036854775807"), math.MaxInt64, true}, {json.Number("-9223372036854775808"), math.MinInt64, true},
		{json.Number("9223372036854775808"), 0, false}, {json.Number("1e18"), 1e18, true}, {json.Number("1.50"), 0, false}, {json.Number("0.0"), 0, true}, {uint64(5), 5, true},
		{1e300, 0, false}, {"5", 0, false},
	} {
		if n, ok := number.Whole(c.v); ok != c.ok || ok && n != c.want {
			t.Errorf("%v is %d, %t", c.v, n, ok)
		}
	}
}

// rational is what a text stands for, by an arithmetic that shares nothing with the package.
func rational(text string) *big.Rat {
	r, _ := new(big.Rat).SetString(text)
	return r
}

func FuzzNumbers(f *testing.F) {
	for _, seed := range []string{"1.10", "9007199254740993", "-0", "1e-7", "1e21", "0.000001", "123456789012345.6", "1E400", "0.30000000000000004"} {
		f.Add(seed, "1e3")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		v, err := number.Of(a)
		if !json.Valid([]byte(a)) || strings.Trim(a, "-0123456789.eE+") != "" {
			if err == nil {
				t.Fatalf("%q is read as %v", a, v)
			}
			return
		}
		if x, failed := strconv.ParseFloat(a, 64); err != nil {
			if failed == nil && x != 0 {
				t.Fatalf("%q: %v", a, err)
			}
			return
		}
		if written, err := json.Marshal(v); err != nil || string(written) != a {
			t.Fatalf("%q is written as %s, %v", a, written, err)
		}
		if x, ok := v.(float64); ok {
			if written, _ := json.Marshal(x); !bytes.Equal(written, number.Append(nil, x)) {
				t.Fatalf("%v is appended as %s", x, number.Append(nil, x))
			}
		}
		if len(a)+len(b) > 60 || strings.ContainsAny(a, "eE") && len(a) > 12 {
			return // which the oracle writes out
		}
		key, ok := number.Key(v)
		if !ok || rational(key).Cmp(rational(a)) != 0 {
			t.Fatalf("%q has the key %q", a, key)
		}
		w, err := number.Of(b)
		if err != nil {
			return
		}
		if order, ok := number.Compare(v, w); !ok || order != rational(a).Cmp(rational(b)) {
			t.Fatalf("%q to %q is %d, %t", a, b, order, ok)
		}
	})
}
