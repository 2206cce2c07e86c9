package pipeline_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/webrace/webrace/pipeline"
)

// A program that runs pipelines by itself looks at what failed, and has it processed again.
func ExampleDeadLettersInMemory() {
	text := pipeline.KindOf[string]()
	open := false
	build := func(names ...string) *pipeline.Graph {
		g := pipeline.NewGraph("greetings")
		g.AddStage("names", pipeline.Spec{Out: []pipeline.Port{{Kind: text}}},
			func(*pipeline.Env) (any, error) { return list(names), nil })
		g.AddStage("greet", pipeline.Spec{In: pipeline.Kinds(text)}, func(*pipeline.Env) (any, error) {
			return pipeline.Map(func(_ context.Context, name string) (string, error) {
				if name == "Iris" && !open {
					return "", errors.New("the door of Iris is closed")
				}
				fmt.Println("good morning", name)
				return name, nil
			}), nil
		})
		g.Wire("names > greet")
		return g
	}
	letters := new(pipeline.DeadLettersInMemory)
	options := pipeline.RunOptions{DeadLetters: letters}
	if _, err := build("Eleni", "Iris").Run(context.Background(), options); err != nil {
		fmt.Println(err)
	}
	for _, letter := range letters.All() {
		fmt.Printf("%s failed on %s: %s\n", letter.Stage, letter.Value, letter.Errors[0])
		letters.Replay(letter.ID)
	}
	open = true
	if _, err := build().Run(context.Background(), options); err != nil {
		fmt.Println(err)
	}
	fmt.Println(len(letters.All()), "letters are left")
	// Output:
	// good morning Eleni
	// greet failed on "Iris": the door of Iris is closed
	// good morning Iris
	// 0 letters are left
}

type list []string

func (l list) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, name := range l {
		if err := out.Emit(ctx, &pipeline.Item{Value: name}); err != nil {
			return err
		}
	}
	return nil
}
