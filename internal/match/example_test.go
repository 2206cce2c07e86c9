package match_test

import (
	"fmt"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
)

func Example() {
	profile, warnings, err := match.Compile(match.Profile{ID: "u42", Group: match.Group{
		Match: match.Any,
		Keywords: []match.Keyword{
			{Key: "java", Weight: 4},
			{Key: "title:research", Weight: 3},
			{Key: "coffee", None: true},
		},
	}})
	if err != nil || len(warnings) > 0 {
		fmt.Println(warnings, err)
		return
	}
	var index match.Index
	index.Add(profile)

	text := &webrace.Text{Bytes: []byte("Research\nWe compile Java."), Blocks: []webrace.Block{
		{Start: 0, End: 8, Field: webrace.FieldTitle},
		{Start: 9, End: 25, Field: webrace.FieldBody},
	}}
	var seen match.Baseline // what the last visit left
	_, added := seen.Update(text)
	for alert := range index.Match(text, match.Options{
		Recipients: []match.Recipient{{ID: "u42", OnlyAdded: true}},
		Added:      added,
		Summary:    200,
	}) {
		fmt.Println(alert.ID, alert.Relevance, alert.Summary)
		fmt.Print(alert.Explanation)
	}
	// Output:
	// u42 73 We compile «Java».
	// alert: relevance 73, threshold 20; looked at 2 of 2 blocks of a page of 4 words
	//   java: weight 4, 1 in body, saturation 0.56, share 46%
	//   title:research: weight 3, 1 in title, saturation 0.84, share 54%
	//   absent: coffee
}
