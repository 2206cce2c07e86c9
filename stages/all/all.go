// Package all makes every stage type that ships with webrace known to the pipeline package, and every kind
// of value that they exchange.
package all

import (
	_ "github.com/webrace/webrace/internal/kinds"
	_ "github.com/webrace/webrace/stages/aciemit"
	_ "github.com/webrace/webrace/stages/acis"
	_ "github.com/webrace/webrace/stages/batch"
	_ "github.com/webrace/webrace/stages/cache"
	_ "github.com/webrace/webrace/stages/dedupe"
	_ "github.com/webrace/webrace/stages/drop"
	_ "github.com/webrace/webrace/stages/exec"
	_ "github.com/webrace/webrace/stages/feedparse"
	_ "github.com/webrace/webrace/stages/fetch"
	_ "github.com/webrace/webrace/stages/frontier"
	_ "github.com/webrace/webrace/stages/gc"
	_ "github.com/webrace/webrace/stages/httpout"
	_ "github.com/webrace/webrace/stages/index"
	_ "github.com/webrace/webrace/stages/keywordfilter"
	_ "github.com/webrace/webrace/stages/lines"
	_ "github.com/webrace/webrace/stages/mailout"
	_ "github.com/webrace/webrace/stages/normalize"
	_ "github.com/webrace/webrace/stages/objects"
	_ "github.com/webrace/webrace/stages/print"
	_ "github.com/webrace/webrace/stages/render"
	_ "github.com/webrace/webrace/stages/sample"
	_ "github.com/webrace/webrace/stages/sitemapparse"
	_ "github.com/webrace/webrace/stages/throttle"
	_ "github.com/webrace/webrace/stages/urds"
	_ "github.com/webrace/webrace/stages/warcsource"
	_ "github.com/webrace/webrace/stages/window"
	_ "github.com/webrace/webrace/stages/writefile"
)
