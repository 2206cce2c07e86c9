package analyze_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/storage/fulltext"
)

// scripts has what must find what: a keyword, and texts that it is to be found in, and others.
var scripts = []struct {
	of, keyword string
	found       []string
	not         []string
}{
	{"subscripts", "H2O", []string{"H₂O", "H2O", "h₂o", "Ｈ２Ｏ"}, []string{"H₂", "HO"}},
	{"subscripts, as a keyword", "CO₂", []string{"CO2", "CO₂", "co2"}, []string{"CO"}},
	{"superscripts", "m2", []string{"30 m²", "m2", "㎡"}, []string{"m³"}},
	{"squared units", "10kg", []string{"10㎏", "10 kg 10kg"}, []string{"10"}},
	{"a trade mark", "Java", []string{"Java™", "Java®", "Java"}, nil},
	{"Roman numerals", "XIV", []string{"ⅩⅣ", "Louis ⅹⅳ"}, []string{"XV"}},
	{"numbers in circles", "3", []string{"③", "⑶"}, []string{"④"}},
	{"ligatures", "office", []string{"oﬃce", "of\u00ADfice", "o\u200Dffice", "o\u2060ffice"}, []string{"off ice"}},
	{"fullwidth letters", "Web2026", []string{"Ｗｅｂ２０２６", "web2026"}, nil},
	{"mathematical letters", "x2", []string{"𝐱𝟐", "𝓍₂"}, nil},
	{"directions", "shalom", []string{"sha\u200Elom", "\u202Eshalom\u202C"}, nil},

	{"Arabic digits", "2026", []string{"٢٠٢٦", "۲۰۲۶", "2026"}, []string{"٢٠٢٥"}},
	{"Arabic digits, as a keyword", "٢٠٢٦", []string{"2026", "۲۰۲۶"}, nil},
	{"Devanagari digits", "१५ अगस्त", []string{"15 अगस्त"}, []string{"16 अगस्त"}},
	{"Thai digits", "๒๕๖๙", []string{"2569"}, nil},
	{"tatweel", "العربية", []string{"العـــربية", "العربيّة"}, []string{"العرب"}},
	{"Arabic presentation forms", "سلام", []string{"ﺳﻼم", "سَلَام"}, nil},
	{"Persian joiners", "می\u200Cخواهم", []string{"می\u200Cخواهم", "میخواهم"}, nil},
	{"Hebrew points", "שלום", []string{"שָׁלוֹם", "שלום"}, nil},
	{"Hindi", "हिन्दी", []string{"हिन्दी में"}, []string{"हिन्दु"}},
	{"Devanagari dots", "क़लम", []string{"\u0958लम", "\u0915\u093Cलम"}, nil},

	{"Han", "東京都", []string{"私は東京都に住む"}, []string{"東京", "京都"}},
	{"Han and variants", "葛城", []string{"葛\U000E0100城", "葛城市"}, nil},
	{"Han compatibility", "金額", []string{"\uF90A額"}, nil},
	{"Han zero", "二〇二六", []string{"二〇二六年"}, []string{"二六"}},
	{"Han in circles", "株式", []string{"株式会社"}, []string{"㈱"}},
	{"a single ideograph", "株", []string{"㈱", "㊑"}, nil},
	{"kana in parts", "がぎ", []string{"か\u3099き\u3099", "がぎぐ", "し、がぎ"}, []string{"かぎ", "がき"}},
	{"narrow kana", "ガス", []string{"ｶﾞｽ", "カ\u3099ス", "都市ガス"}, []string{"カス"}},
	{"semivoiced kana", "パン", []string{"ﾊﾟﾝ", "ハ\u309Aン"}, []string{"バン", "ハン"}},
	{"kana that have no voice", "あい", []string{"あ\u3099い"}, nil},
	{"〆", "〆切", []string{"〆切日"}, nil},
	{"Hangul in parts", "한국어", []string{"\u1112\u1161\u11AB\u1100\u116E\u11A8\u110B\u1165", "한국어로"}, []string{"한국"}},
	{"Hangul syllables with a tail apart", "각각", []string{"가\u11A8가\u11A8"}, []string{"가가"}},

	{"Thai", "ภาษาไทย", []string{"ฉันพูดภาษาไทยได้", "ภาษา\u200Bไทย"}, []string{"ภาษาจีน", "ไทย"}},
	{"Thai am in parts", "น้ำแข็ง", []string{"น\u0E49\u0E4D\u0E32แข็ง", "น\u0E4D\u0E49\u0E32แข็ง", "กินน้ำแข็งใส"}, []string{"นาแข็ง"}},
	{"Thai signs", "ป่าไม้", []string{"มีป่าไม้มาก"}, []string{"ปาไม้", "ป่าไม"}},
	{"Lao", "ພາສາລາວ", []string{"ຂ້ອຍເວົ້າພາສາລາວໄດ້"}, []string{"ພາສາໄທ"}},
	{"Lao letters in parts", "ໜັງສື", []string{"ຫນັງສື", "ອ່ານໜັງສືພິມ"}, nil},
	{"Khmer", "ភាសាខ្មែរ", []string{"ខ្ញុំនិយាយភាសាខ្មែរបាន", "ភាសា\u200Bខ្មែរ"}, []string{"ភាសាថៃ", "ភាសាខមែរ"}},
	{"Burmese", "မြန်မာစာ", []string{"မြန်မာစာပေ", "ကျွန်တော်မြန်မာစာဖတ်တယ်"}, []string{"မြန်မာ", "တရုတ်စာ"}},
	{"Burmese stacks", "ပုဂ္ဂိုလ်", []string{"အရေးကြီးပုဂ္ဂိုလ်များ"}, []string{"ပုဂဂိုလ်"}},
	{"Thai beside Latin", "IBMไทยแลนด์", []string{"ที่IBMไทยแลนด์2026"}, nil},

	{"French", "événement", []string{"événement", "évènement", "EVENEMENT", "e\u0301ve\u0301nements"}, []string{"éventuel"}},
	{"French without accents", "evenement", []string{"événement", "évènements", "evenement"}, nil},
	{"Spanish", "habló", []string{"hablo", "habló"}, nil},
	{"Vietnamese", "Việt Nam", []string{"viet nam", "Vie\u0323\u0302t Nam", "VIỆT NAM"}, nil},
	{"Turkish", "İstanbul", []string{"istanbul", "ISTANBUL", "ıstanbul"}, nil},
	{"Greek", "Θεσσαλονίκη", []string{"ΘΕΣΣΑΛΟΝΙΚΗ", "Θεσσαλονίκης"}, nil},
	{"Russian", "ёлка", []string{"елка", "Ёлка", "е\u0308лка"}, []string{"йолка"}},
	{"a phrase for a character", "ﷺ", []string{"ﷺ"}, []string{"صلى الله عليه وسلم"}},
}

// A keyword finds on pages what the same words find in the index, however either is encoded.
func TestScriptsAreFoundOnPagesAndInTheIndex(t *testing.T) {
	t.Parallel()
	var texts cached
	for _, c := range scripts {
		texts = append(append(texts, c.found...), c.not...)
	}
	index, err := fulltext.InMemory(t.Context(), texts, texts.urls())
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	for _, c := range scripts {
		results, err := index.Search(t.Context(), fulltext.Query{Text: `"` + c.keyword + `"`, Size: 1000})
		if err != nil {
			t.Fatal(err)
		}
		indexed := map[string]bool{}
		for _, hit := range results.Hits {
			indexed[texts[number(hit.URL)]] = true
		}
		for _, text := range append(c.found, c.not...) {
			want := slices.Contains(c.found, text)
			if got := onPage(t, c.keyword, text, false); got != want {
				t.Errorf("%s: the keyword %s finds the page %s: %v; their words are %q and %q", c.of, c.keyword, text, got, words(c.keyword), words(text))
			}
			if got := indexed[text]; got != want {
				t.Errorf("%s: %s finds %s in the index: %v", c.of, c.keyword, text, got)
			}
			wanted, all := " "+strings.Join(words(c.keyword), " ")+" ", " "+strings.Join(words(text), " ")+" "
			if got := onPage(t, c.keyword, text, true); got != strings.Contains(all, wanted) {
				t.Errorf("%s: the exact keyword %s finds the page %s: %v; their words are %q and %q", c.of, c.keyword, text, got, wanted, all)
			}
			if !onPage(t, text, text, true) || !onPage(t, analyze.Fold(text), text, true) {
				t.Errorf("%s: %s does not find itself", c.of, text)
			}
		}
	}
}

// onPage reports whether a page of the text is told of.
func onPage(t *testing.T, keyword, text string, exact bool) bool {
	t.Helper()
	profile, _, err := match.Compile(match.Profile{ID: "p", Threshold: 1, Group: match.Group{
		Match: match.Any, Keywords: []match.Keyword{{Key: keyword, Weight: 5, Exact: exact}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var index match.Index
	index.Add(profile)
	page := &webrace.Text{Bytes: []byte(text), Blocks: []webrace.Block{{End: int32(len(text))}}}
	found := 0
	for range index.Match(page, match.Options{Recipients: []match.Recipient{{ID: "p"}}}) {
		found++
	}
	registered := 0
	for range index.Match(page, match.Options{Everyone: true}) {
		registered++
	}
	if found != registered {
		t.Errorf("%s is found %d times on the page %s for its owner, and %d times for everyone", keyword, found, text, registered)
	}
	return found > 0
}

func words(text string) (all []string) {
	analyze.Words([]byte(text), func(_, _ int, folded []byte) bool {
		all = append(all, string(folded))
		return true
	})
	return all
}

// cached is an object cache of texts, whose URLs end in their numbers.
type cached []string

func (c cached) urls() (urls []string) {
	for i := range c {
		urls = append(urls, "http://scripts.example/"+strconv.Itoa(i))
	}
	return urls
}

func number(url string) int {
	n, _ := strconv.Atoi(url[strings.LastIndex(url, "/")+1:])
	return n
}

func (c cached) Versions(string) ([]int, error) { return []int{1}, nil }

func (c cached) Document(url string, version int) (fulltext.Document, bool, error) {
	return fulltext.Document{URL: url, Version: version, Body: c[number(url)]}, true, nil
}
