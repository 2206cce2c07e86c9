package amount

import (
	"math"
	"testing"
)

// As shops, banks and statistical offices write them.
func TestNumbersAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, language string
		want           float64
	}{
		{"1.234,56 €", "de", 1234.56}, {"1.234,56 €", "", 1234.56}, {"1.234 €", "de", 1234}, {"1.234 €", "el-GR", 1234}, {"1.234", "en", 1.234},
		{"ab 1.299,- €", "de", 1299}, {"UVP: 12,50 EUR", "de-AT", 12.5}, {"Preis: 2 Stück 19,90 €", "de", 19.9}, {"12,– €", "de", 12},
		{"$1,234.56", "en-US", 1234.56}, {"$1,234", "en", 1234}, {"US$ 1,234.56", "en", 1234.56}, {"£0.99", "en-GB", 0.99}, {"1,234", "de", 1.234},
		{"3 for £10", "en", 10}, {"5 items, 80 dollars", "en", 80}, {"1234.5", "de", 1234.5}, {"1.5", "de", 1.5}, {"0,125 %", "en", 0.125},
		{"1 234,56 €", "fr", 1234.56}, {"1 234,56 €", "fr", 1234.56}, {"1 234 567,89 zł", "pl", 1234567.89}, {"1 299 Kč", "cs", 1299},
		{"12 990 ₽", "ru", 12990}, {"9 999 kr", "sv", 9999}, {"1.234,50 kr.", "da", 1234.5}, {"iPhone 15 999 €", "en", 999}, {"12 990 Ft", "hu", 12990},
		{"CHF 1'234.56", "de-CH", 1234.56}, {"Fr. 1’234.–", "de-CH", 1234}, {"1'234.567", "de", 1234.567}, {"CHF 1.234", "de-CH", 1.234},
		{"¥1,234", "ja", 1234}, {"1,234円", "ja", 1234}, {"￥１，２３４", "ja", 1234}, {"₩1,234,567", "ko", 1234567}, {"HK$ 12.30", "zh-HK", 12.3},
		{"₹12,34,567.50", "en-IN", 1234567.5}, {"Rs. 1,234", "en-IN", 1234}, {"R$ 1.234,56", "pt-BR", 1234.56}, {"$1,234.50", "es-MX", 1234.5},
		{"1.234,5 €", "es", 1234.5}, {"١٬٢٣٤٫٥ ج.م", "ar", 1234.5}, {"١٢٣", "ar", 123}, {"१,२३४", "hi", 1234}, {"1.234.567 ₫", "vi", 1234567},
		{"−3 °C", "en", -3}, {"-€5.00", "en", -5}, {"-$ 5", "en", -5}, {"A-3", "en", 3}, {"10-20 €", "de", 20}, {"USD -12.5", "en", -12.5},
		{"from 10 to 20", "en", 10}, {"v1.", "", 1}, {"1,5", "nonsense!", 1.5}, {"1.234", "xx-Nonsense-☃", 1.234}, {"007", "", 7},
		{"99999999999999999999", "", 1e20}, {"+3", "", 3}, {"𝟏𝟐 𝟘𝟙 𝟿", "", 12}, {"𝟘𝟙𝟡 €", "", 19}, {"𝟿𝟶", "", 90}, {"4,5 von 5 Sternen", "de", 4.5},
	} {
		if got, ok := Read(c.text, c.language, nil); !ok || got.Value() != c.want {
			t.Errorf("%q in %q is %+v, %t; want %v", c.text, c.language, got, ok, c.want)
		}
	}
	for _, text := range []string{"", "sold out", "€", ".", "-", "½"} {
		if got, ok := Read(text, "en", nil); ok {
			t.Errorf("%q is the number %+v", text, got)
		}
	}
	if got, _ := First("-1.234.567.890.123.456.789,50", "de", nil); got.Digits != "-1234567890123456789.50" {
		t.Errorf("the digits are %q", got.Digits)
	}
	if got, _ := First("3 for £10", "en", nil); got.Digits != "3" {
		t.Errorf("the first number is %+v", got)
	}
}

// An amount ends where the text does, and not at a space; the page decides what is ambiguous, then the language.
func TestAmbiguousAmounts(t *testing.T) {
	t.Parallel()
	const english, german, swedish = "Boat $1,234.56 Oar $12.50", "Boot 1.234,56 € Ruder 12,50 €", "Båt: 1 234 kr. Åra: 99 kr"
	for _, c := range []struct {
		text, language, page string
		want                 float64
		other                string // what it may be as well
	}{
		{"999 kr", "", "", 999, ""}, {"1 049 kr", "", "", 1049, ""}, {"1 049 kr", "en", "", 1049, ""}, {"kr 1 049", "en", "", 1049, ""},
		{"Price: 1 049 kr", "en", "", 1049, ""}, {"Now 1 049 kr", "", "", 1049, "049"}, {"Now 1 049 kr", "en", "", 49, "1049"},
		{"Now 1 049 kr", "en", swedish, 1049, "049"}, {"iPhone 15 999 €", "en", english, 999, "15999"}, {"iPhone 15 999 €", "sv", "", 15999, "999"},
		{"2024 100 €", "", "", 100, ""}, {"08 123 456", "", "", 8, ""}, {"1 049 50 kr", "", "", 50, ""}, {"1 234 567 kr", "en", "", 1234567, ""},
		{"1.299,-", "", "", 1299, ""}, {"1.299,-", "en", "", 1299, ""}, {"1.299,—", "", "", 1299, ""}, {"1,299.-", "de", "", 1299, ""}, {"12.-", "", "", 12, ""},
		{"1.299", "", "", 1.299, "1299"}, {"1.299 €", "en", german, 1299, "1.299"}, {"1,299", "de", english, 1299, "1.299"},
		{"1.299", "en", "Version 1.2 of 12.10.2026", 1.299, "1299"}, {"1.299", "en", "1.2 €, 1,2 €", 1.299, "1299"},
		{"1.299 €", "en", "Oar 12,- €", 1299, "1.299"}, {"1.299 €", "en", "1.234.567 €", 1299, "1.299"},
	} {
		got, ok := Read(c.text, c.language, []byte(c.page))
		if !ok || got.Value() != c.want || got.Other != c.other || (got.Why == "") != (got.Other == "") {
			t.Errorf("%q in %q of %q is %+v, %t; want %v, or %q", c.text, c.language, c.page, got, ok, c.want, c.other)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"1,234.5 €", "-1", "1'2", "−", "9.9.9,9", "١٬٢٣", "1 234"} {
		f.Add(seed, "de")
	}
	f.Fuzz(func(t *testing.T, text, language string) {
		for _, read := range []func(string, string, []byte) (Amount, bool){Read, First} {
			a, ok := read(text, language, []byte(text))
			n := a.Value()
			if math.IsNaN(n) || !ok && n != 0 {
				t.Errorf("%q is %v, %t", text, n, ok)
			}
			has := false
			for _, r := range text[:min(len(text), longest)] {
				has = has || digit(r) >= 0
			}
			if has != ok {
				t.Errorf("%q has a digit: %t, and a number: %t", text, has, ok)
			}
			if again, _ := read(text, language, []byte(text)); again != a {
				t.Errorf("%q is %+v, and %+v", text, a, again)
			}
		}
	})
}
