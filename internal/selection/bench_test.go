package selection

import (
	"os"
	"testing"

	"github.com/antchfx/htmlquery"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/xpath"
)

// BenchmarkApply applies rules to a page of Python's documentation that was taken apart already, and to one
// that was not.
func BenchmarkApply(b *testing.B) {
	body, err := os.ReadFile(pythonDocs + "/library/functools.html")
	if err != nil {
		b.Skip("real pages are missing: install the Debian package python3.11-doc")
	}
	for _, list := range []string{"css #functools.reduce", "css h1", "css section p", "xpath //section[@id='x']", "-css .headerlink", `regex \d+ items`} {
		s, err := Compile(rules(list))
		if err != nil {
			b.Fatal(err)
		}
		d := open(b, string(body), "text/html")
		for name, fresh := range map[string]bool{"again": false, "first": true} {
			b.Run(list+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					if fresh {
						d = Open(d.url, d.body, d.mediaType, "utf-8", d.text)
					}
					if _, err := s.Apply(b.Context(), d, NewBudget()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// commonPaths are such as people write; hardPaths are what the library htmlquery answers wrongly, by positions that it
// counts over the page, or by nodes that it gives twice.
var (
	commonPaths = []string{
		"//h1", "//section[@id='x']", "//a/@href", "//div[@class='body']//p", "//dl/dt/code", "//p[contains(., 'cache')]", "//table//td",
		"//*[@id='functools.reduce']", "//li/a[@class='reference internal']", "/html/body/div/h3",
	}
	hardPaths = []string{
		"//dd//p[1]", "//dt[@class][2]", "//div//div//span", "//p[@class = true()]", "//code/ancestor::section[1]", "//a[@href][last()]",
		"//li/following-sibling::li[1]", "//span/preceding::p[1]", "//dl/dd/p[position() > 1]/text()", "(//section//p | //dd)[position() mod 2 = 1]",
	}
)

// BenchmarkXPath evaluates ten expressions on a page of 100 KB: with the making of what XPath looks at, which is once a
// page, and beside the library.
func BenchmarkXPath(b *testing.B) {
	body, err := os.ReadFile(pythonDocs + "/library/functools.html")
	if err != nil {
		b.Skip("real pages are missing: install the Debian package python3.11-doc")
	}
	root, err := htmltree.Parse(body)
	if err != nil {
		b.Fatal(err)
	}
	for name, paths := range map[string][]string{"common": commonPaths, "hard": hardPaths} {
		var all []Rule
		for _, path := range paths {
			all = append(all, Rule{Language: XPath, Text: path})
		}
		s, err := Compile(all)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				all, budget := newPaths(root), xpath.Budget{Context: b.Context(), Left: maxSteps}
				for _, r := range s.rules {
					all.evaluate(r.xpath, hit{root, -1}, &budget)
				}
				b.ReportMetric(float64(maxSteps-budget.Left), "steps")
			}
		})
		b.Run(name+"/library", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				for _, path := range paths {
					if _, err := htmlquery.QueryAll(root, path); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
