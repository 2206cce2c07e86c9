package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/xmlschema"
)

func lookingBy(language, rule string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) { u.Select = []xmlschema.Rule{{Language: language, Text: rule}} }
}

// formatsEdition is the documents of a site that are no HTML, in an edition. Each speaks of storms.
func formatsEdition(w *world, price int, news string) {
	w.file("/api", "application/json", fmt.Appendf(nil, `{"items":[{"name":"Bolt","price":%d},{"name":"Nut","price":3}],"news":"%s"}`, price, news))
	w.file("/prices.csv", "text/csv; charset=utf-8", fmt.Appendf(nil, "name,price,note\nBolt,%d,\nNut,3,%s\n", price, news))
	w.file("/README.md", "text/plain; charset=utf-8", fmt.Appendf(nil, "# About *bolts*\n\nThe price is %d.\n\n%s\n", price, news))
	w.file("/minutes.docx", "application/octet-stream", testutil.DOCX("Minutes", "# Prices", fmt.Sprintf("The price is %d.", price), news))
	w.file("/prices.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		testutil.XLSX("Prices", []string{"name", "price", "note"}, []string{"Bolt", fmt.Sprint(price), ""}, []string{"Nut", "3", news}))
	w.file("/book.epub", "application/epub+zip", testutil.EPUB("A book", fmt.Sprintf("<h1>Prices</h1><p>The price is %d.</p><p>%s</p>", price, news)))
}

// pricesEdition is pages of prices, each as its country writes them, in an edition: 1, 2 or 3. Read by the rules of
// another country, each would meet its owner's condition too early, or never.
func pricesEdition(w *world, edition int) {
	for path, page := range map[string]struct {
		language string
		prices   [3]string
	}{
		"/price/de": {"de", [...]string{"€ 1.234,50", "€ 1.199,00", "€ 1.250,00"}},
		"/price/us": {"en-US", [...]string{"$1,234.50", "$1,300.00", "$1,300.00 net"}},
		"/price/pl": {"pl", [...]string{"1 234,50 zł", "1 111,05 zł", "1\u00a0110,00 zł"}},
		"/price/ch": {"de-CH", [...]string{"CHF 1'234.50", "CHF 1’234.50", "CHF 1’049.–"}},
		"/price/jp": {"ja", [...]string{"¥12,345", "12,000円", "¥9,800"}},
	} {
		w.file(path, "text/html; charset=utf-8", fmt.Appendf(nil, "<!DOCTYPE html><html lang=%s><title>Boat</title><p>Offer %d of 3, for 2 people</p><p id=price>Now %s</p>",
			page.language, edition, page.prices[edition-1]))
	}
}

// askForPrices returns owners' requests to be told of those prices under a condition.
func (w *world) askForPrices() (urds []*xmlschema.URD) {
	for path, when := range map[string]string{
		"de": "number < 1200", "us": "number > 1250", "pl": "change < -0.05", "ch": "number < 1100", "jp": "number < 10000",
	} {
		urds = append(urds, w.asks(path, "/price/"+path, func(u *xmlschema.URD) {
			u.Select = []xmlschema.Rule{{Language: xmlschema.RuleCSS, Text: "#price", When: when}}
		}))
	}
	return urds
}

func TestWatchFormats(t *testing.T) {
	if testing.Short() {
		t.Skip("two crawls of documents of each format: not in short mode")
	}
	t.Parallel()
	w := newWorld(t)
	paths := []string{"/api", "/prices.csv", "/README.md", "/minutes.docx", "/prices.xlsx", "/book.epub"}
	w.page("/", append([]string{"all documents"}, paths...)...)
	formatsEdition(w, 12, "All is calm.")
	pricesEdition(w, 1)
	urds := append(w.askForPrices(),
		w.asks("ann", "/", depth(2), about("storm")),
		w.asks("jay", "/api", lookingBy(xmlschema.RuleJQ, ".items[0].price")),
		w.asks("kim", "/api", lookingBy(xmlschema.RuleJQ, `.items[] | select(.price > 13) | "\(.name) costs \(.price)"`)),
		w.asks("rob", "/prices.csv", lookingBy(xmlschema.RuleRegex, "name: Bolt.*")),
		w.asks("css", "/README.md", lookingBy(xmlschema.RuleCSS, "h1 + p")),
		w.asks("end", "/api", lookingBy(xmlschema.RuleJQ, "repeat(.)")),
	)
	w.start(urds).mustExit(cli.OK)
	mustBe(t, "told of the first edition", w.told(), "jay /api 1: items[0].price: 12", "rob /prices.csv 1: name: Bolt; price: 12", "css /README.md 1: The price is 12.")

	formatsEdition(w, 14, "A storm comes.")
	pricesEdition(w, 2)
	w.run(urds, askAll...)
	mustBe(t, "told of the second edition", w.told(),
		"ann /README.md 2: A «storm» comes.", "ann /api 2: news: A «storm» comes.", "ann /book.epub 2: A «storm» comes.",
		"ann /minutes.docx 2: A «storm» comes.", "ann /prices.csv 2: name: Nut; price: 3; note: A «storm» comes.",
		"ann /prices.xlsx 2: name: Nut; price: 3; note: A «storm» comes.",
		"jay /api 2: price: [\u221212] «14»", "kim /api 2: Bolt costs 14", "rob /prices.csv 2: name: Bolt; price: [\u221212] «14»", "css /README.md 2: The price is [\u221212] «14».",
		"de /price/de 2: Now € [\u22121.234,50] «1.199,00»", "us /price/us 2: Now $[\u22121,234.50] «1,300.00»", "pl /price/pl 2: Now 1 [\u2212234,50] «111,05» zł")
	if _, said, err := webraceRun("search", "--data", w.data); err != nil { // fills the index
		t.Fatal(err, said)
	}
	said, err := webraceStore("--data", w.data, "search", "storm")
	if err != nil {
		t.Error(err)
	}
	for _, path := range paths {
		mustSay(t, said, w.URL+path)
	}
	for path, changes := range map[string][]string{
		"/api":          {"\n-items[0].price: 12\n+items[0].price: 14\n", "\n-news: All is calm.\n+news: A storm comes.\n"},
		"/prices.csv":   {"@@ name: Bolt; price: [−12] «14» · name: Nut; price: 3; note: [−All is calm] «A storm comes».\n", "\n-name: Bolt; price: 12\n", "\n+name: Bolt; price: 14\n"},
		"/prices.xlsx":  {"@@ name: Bolt; price: [−12] «14» · name: Nut; price: 3; note: [−All is calm] «A storm comes».\n"},
		"/README.md":    {"\n About bolts\n-The price is 12.\n"},
		"/minutes.docx": {"\n Prices\n-The price is 12.\n"},
		"/book.epub":    {"\n Prices\n-The price is 12.\n"},
	} {
		said, err := webraceStore("--data", w.data, "cache", "diff", w.URL+path)
		mustSay(t, said, changes...)
		if exit := (*cli.Error)(nil); !errors.As(err, &exit) || exit.Status != cli.Failed { // as of diff
			t.Errorf("cache diff %s ends with %v:\n%s", path, err, said)
		}
	}
	// An element before others gives them other numbers, and is all that is new.
	w.file("/api", "application/json", []byte(`{"items":[{"name":"Screw","price":1},{"name":"Bolt","price":14},{"name":"Nut","price":3}],"news":"A storm comes."}`))
	pricesEdition(w, 3)
	w.run(urds, askAll...)
	told := slices.DeleteFunc(w.told(), func(told string) bool { return !strings.Contains(told, "/price/") })
	mustBe(t, "told of prices of the third edition", told, "ch /price/ch 3: Now CHF [\u22121’234.50] «1’049.–»", "jp /price/jp 3: [\u2212Now 12,000円] «Now ¥9,800»")
	said, _ = webraceStore("--data", w.data, "cache", "diff", w.URL+"/api")
	mustSay(t, said, "\n+items[0].name: Screw\n+items[0].price: 1\n")
	if strings.Contains(said, "\n-") {
		t.Errorf("elements that moved are changes:\n%s", said)
	}
}

func TestHostileFormatsAreKeptAndCounted(t *testing.T) {
	if testing.Short() {
		t.Skip("documents that are made to cost much: not in short mode")
	}
	t.Parallel()
	w := newWorld(t)
	w.page("/", "all documents", "/deep.json", "/lie.json", "/lie.xlsx", "/bomb.docx", "/good.json")
	w.file("/deep.json", "application/json", []byte(strings.Repeat("[", 1_000_000)+strings.Repeat("]", 1_000_000)))
	w.file("/lie.json", "application/json", []byte("<html>No such file</html>"))
	w.file("/lie.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", []byte("<html>No such file</html>"))
	w.file("/bomb.docx", "application/octet-stream", testutil.DOCX("", strings.Repeat("a ", 40<<20)))
	w.file("/good.json", "application/json", []byte(`{"text":"A storm comes."}`))
	report := w.reported(these(w.asks("ann", "/", depth(2), about("storm"))))
	mustSay(t, fmt.Sprint(report.Stages["normalize"].Counters), "unread_broken:2", "unread_over_limit:2")
	mustBe(t, "told", w.told(), "ann /good.json 1: text: A «storm» comes.")
	said, err := webraceStore("--data", w.data, "explain", w.URL+"/lie.json", "ann")
	if err != nil {
		t.Error(err)
	}
	mustSay(t, said, "it is no JSON from byte 0 on")
}
