package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of several agents, and honest talk.

func roundtableLookalikes() []kind {
	return []kind{
		{name: "personas_asked_the_same", build: personasAskedTheSame},
		{name: "recipe_cooked_step_by_step", build: recipeCookedStepByStep},
		{name: "surfer_scrolls_for_orchestrator", build: surferScrollsForOrchestrator},
	}
}

// personasAskedTheSame has an interviewer ask agent after agent the same questions in the same words; each answers for itself.
func personasAskedTheSame(p *generator) (entries []entry, _ int) {
	questions := [][]string{
		{"How do you get to work?", "By bus, about forty minutes.", "I cycle, even in winter.", "I drive. There is no train where I live.", "I work from home most days."},
		{"What do you miss most in your current app?", "A widget with the next departure.", "That it remembers my tickets.", "Nothing, really. It could be faster.", "A way to share a ride with my daughter."},
		{"How much would you pay for it per month?", "Two euros at most.", "Nothing. I'd rather see ads.", "Five, if it replaces my paper ticket.", "Maybe three euros."},
		{"Who else should we ask?", "My neighbour, she travels a lot.", "The drivers.", "People in the villages.", "Students, I guess."},
		{"What made you stop using an app before?", "Too many notifications.", "It lost my season ticket.", "I had to sign in every day.", "The colours. I couldn't read it outside."},
	}[:p.between(3, 5)]
	personas := p.shuffled("commuter", "student", "pensioner", "parent")[:p.between(3, 4)]
	offset := p.IntN(4)
	entries = append(entries, say(fmt.Sprintf("I'll ask %d people the same %d questions.", len(personas), len(questions))).by("interviewer"))
	for k, persona := range personas {
		entries = append(entries, entry{Kind: "handoff", From: "interviewer", To: persona})
		for q, question := range questions {
			entries = append(entries, say(question[0]).by("interviewer"), say(question[1+(k+q+offset)%4]).by(persona))
		}
	}
	return append(entries, say(fmt.Sprintf("I have asked all %d. I'll compare their answers now.", len(personas))).by("interviewer")), 0
}

// recipeCookedStepByStep tells a cook step after step of a recipe; the cook says no more than that it is done.
func recipeCookedStepByStep(p *generator) (entries []entry, _ int) {
	recipes := [][]string{
		{"Chop two onions finely.", "Heat two spoons of oil in a large pot.", "Fry the onions for five minutes.", "Add the garlic and stir.", "Add 300 g of red lentils.", "Pour in a litre of stock.", "Let it simmer for 20 minutes.", "Squeeze half a lemon into the pot.", "Season with salt and cumin.", "Serve with yoghurt on top."},
		{"Heat the oven to 180 degrees.", "Butter a round tin.", "Beat four eggs with 150 g of sugar.", "Melt 200 g of chocolate.", "Fold the chocolate into the eggs.", "Sift in 80 g of flour.", "Pour the batter into the tin.", "Bake it for 25 minutes.", "Test it with a skewer.", "Let the cake cool for ten minutes.", "Turn it out onto a plate."},
	}
	recipe := recipes[p.IntN(len(recipes))]
	for k, step := range recipe[:p.between(7, len(recipe))] {
		lead := p.pick("", "Great. ", "Well done. ", "Perfect. ", "Next: ")
		if k == 0 {
			lead = "Let's cook. "
		}
		entries = append(entries, say(lead+step+p.pick("", " Tell me when you're done.", " Say 'next' when you are ready.")), user(p.pick("Done.", "Next", "Ok, done", "ready", "Next please")))
	}
	return entries, 0
}

// surferScrollsForOrchestrator has an orchestrator tell a surfer to scroll on through a page; each screen shows other entries.
func surferScrollsForOrchestrator(p *generator) (entries []entry, _ int) {
	site, topic := p.word()+"-directory.example", p.pick("yoga studios", "chess clubs", "bike workshops", "language schools")
	title, screens := capitalized(topic)+" near you", p.between(5, 9)
	for k := range screens {
		order := p.pick("Please scroll down the page and list the "+topic+".", "Please continue scrolling through the list of "+topic+".", "Please scroll further to see more "+topic+".")
		action, place := "I scrolled down one page in the browser.", fmt.Sprintf("%d%% down from the top of the page", k*100/screens)
		if k == 0 {
			order = "Please open '" + title + "' and write down all " + topic + " with their addresses."
			action, place = "I clicked '"+title+"'.", "at the top of the page"
		}
		names := make([]string, p.between(3, 5))
		for n := range names {
			names[n] = capitalized(p.word()) + p.pick(" House", " Centre", " Club", " Lane") + fmt.Sprintf("\n%d %s Street, open until %d pm", p.between(1, 200), capitalized(p.word()), p.between(6, 10))
		}
		entries = append(entries,
			say(order).by("Orchestrator"),
			entry{Kind: "handoff", From: "Orchestrator", To: "WebSurfer"},
			say(fmt.Sprintf("%s\n\nHere is a screenshot of [%s](https://%s/list). The viewport shows %d%% of the webpage, and is positioned %s.\nAutomatic OCR of the page screenshot has detected the following text:\n\n%s", action, title, site, 100/screens, place, strings.Join(names, "\n"))).by("WebSurfer"))
	}
	return entries, 0
}
