package main

import (
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// TestAStoreOfAnEarlierReleaseTellsNobodyAgain goes on with a data directory that an earlier release has written, in
// which annotations are known by their text. That release told ann of /a and not of /b, which has the same sentence,
// and bob of the price at 5 and at 6, and not when it was 5 again.
func TestAStoreOfAnEarlierReleaseTellsNobodyAgain(t *testing.T) {
	t.Parallel()
	w := earlier(t, "release-2026-11-21", "127.83.12.7:18640")
	w.raw("/", "<!DOCTYPE html><title>Index</title><a href=/a>a</a> <a href=/b>b</a> <a href=/c>c</a> <a href=/price>p</a>")
	w.raw("/a", "<!DOCTYPE html><title>Company A</title><p>Status: bankrupt</p><p>It made boats.")
	w.raw("/b", "<!DOCTYPE html><title>Company B</title><p>Status: bankrupt</p><p>It made sails.")
	w.raw("/c", "<!DOCTYPE html><title>Company C</title><p>Status: healthy</p><p>It makes ropes.")
	price := func(n int) {
		w.raw("/price", fmt.Sprintf("<!DOCTYPE html><title>Boat</title><p>A boat costs <b id=price>%d euro</b>.", n))
	}
	price(5)
	mustBe(t, "told by the earlier release", w.told(), "ann /a 1: Status: «bankrupt»", "bob /price 1: Boat", "bob /price 2: A boat costs [−5] «6» euro.")

	urds := these(w.asks("ann", "/", depth(2), about("bankrupt")), w.asks("bob", "/price"))
	urds[0].Keywords.Threshold = 0
	w.run(urds, askAll...)
	mustBe(t, "told of what has not changed", w.told())

	// The same requests once more, as if they were new: what they were told of those versions is known.
	for _, urd := range urds {
		if said, status := w.store("urd", "rm", urd.ID); status != 0 {
			t.Fatal(said)
		}
	}
	w.run(urds, askAll...)
	mustBe(t, "told when everything was matched again", w.told(), "ann /b 1: Status: «bankrupt»", "bob /price 3: A boat costs 5 euro.")

	price(6)
	w.run(urds, askAll...)
	mustBe(t, "told of the next change", w.told(), "bob /price 4: A boat costs [−5] «6» euro.")
}

// TestAStoreOfTheReleaseBeforeNewsTellsNobodyAgain goes on with a data directory of the release that judged conditions
// on what was new alone. In three rounds it told ann of "in stock" and not when it was so again, cat of the price at 10
// and at 12 before that vanished, eve of every change, and bob, who asks for ferry and strike, of nothing: the ferry
// stood there when the strike came.
func TestAStoreOfTheReleaseBeforeNewsTellsNobodyAgain(t *testing.T) {
	t.Parallel()
	w := earlier(t, "release-2026-11-28", "127.83.12.7:18641")
	stock := func(says string) { w.raw("/stock", "<!DOCTYPE html><title>Boat</title><p>"+says) }
	news := func(more string) {
		w.raw("/news", "<!DOCTYPE html><title>News</title><p>The ferry leaves<p>A strike<p>sun"+more)
	}
	price := func(part string) { w.raw("/price", "<!DOCTYPE html><title>Boat</title><p>A boat"+part) }
	stock("in stock")
	news("")
	price("")
	mustBe(t, "told by the earlier release", w.told(), "ann /stock 1: «in stock»", "cat /price 1: 10 euro", "cat /price 2: [−10] «12» euro",
		"eve /news 1: News", "eve /news 2: «A strike»", "eve /news 3: «sun»")
	both := w.asks("bob", "/news", about("ferry", "strike"))
	both.Keywords.Match = xmlschema.MatchAll
	urds := these(w.asks("ann", "/stock", about("in stock")), both, w.asks("cat", "/price", func(u *xmlschema.URD) {
		u.Select = []xmlschema.Rule{{Language: xmlschema.RuleCSS, Text: "#price"}}
	}), w.asks("eve", "/news"))
	w.run(urds, askAll...)
	mustBe(t, "told of what has not changed", w.told())

	news("<p>rain")
	price("<p><b id=price>12 euro</b>")
	stock("sold out")
	w.run(urds, askAll...)
	mustBe(t, "told of what is known", w.told(), "eve /news 4: «rain»")
	price("<p><b id=price>11 euro</b>")
	stock("in stock")
	w.run(urds, askAll...)
	mustBe(t, "told of the next change", w.told(), "ann /stock 5: «in stock»", "cat /price 5: [−12] «11» euro")

	// The same requests once more, as if they were new: what they were told of those versions is known.
	for _, urd := range urds {
		if said, status := w.store("urd", "rm", urd.ID); status != 0 {
			t.Fatal(said)
		}
	}
	w.run(urds, askAll...)
	mustBe(t, "told when everything was matched again", w.told(), "bob /news 4: The «ferry» leaves")
}

// earlier is a world with a data directory that an earlier release has written, which found the site at an address:
// every one of 127/8 is this machine.
func earlier(t *testing.T, release, address string) *world {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mustSucceed(t, exec.Command("tar", "xzf", filepath.Join("../../storage/testdata/golden", release+".tar.gz"), "-C", dir))
	w := &world{site: newSite(t), t: t, data: filepath.Join(dir, "data")}
	server := &http.Server{Handler: http.HandlerFunc(w.serve)}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	w.URL = "http://" + address
	return w
}
