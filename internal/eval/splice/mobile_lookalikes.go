package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of agents in an editor on apps for phones.

func mobileLookalikes() []kind {
	return []kind{
		{name: "screens_moved_to_new_router", build: screensMovedToNewRouter},
		{name: "analyzer_findings_fall_to_zero", build: analyzerFindingsFallToZero},
		{name: "uploaded_build_processed_at_last", build: uploadedBuildProcessedAtLast},
		{name: "refused_blocks_made_after_fresh_read", build: refusedBlocksMadeAfterFreshRead},
	}
}

// screensMovedToNewRouter moves screen after screen of an app to another library of navigation: read, change, and now and then a check of types.
func screensMovedToNewRouter(p *generator) (entries []entry, _ int) {
	b, last := p.blockEditor(), ""
	screens := p.shuffled("Login", "Profile", "Cart", "Orders", "Search", "Settings", "Inbox", "Map", "Checkout", "Wishlist")
	n := p.between(4, 6)
	for k, name := range screens[:n] {
		path := b.screen(strings.ToLower(name))
		before := "const navigation = useNavigation();\nnavigation.navigate('" + screens[k+1] + "');"
		after := "const router = useRouter();\nrouter.push('/" + strings.ToLower(screens[k+1]) + "');"
		if p.coin() {
			entries = append(entries, b.read(path, "import { useNavigation } from '@react-navigation/native';\n"+p.code(2)+"\n"+before+"\n"+p.code(3)).after(p.nextItem(last, name)))
			entries = append(entries, b.replace(path, p.between(8, 90), before, after).after(thought{"", p.pick("Now the change.", "")}))
		} else {
			entries = append(entries, b.replace(path, p.between(8, 90), before, after).after(p.nextItem(last, name)))
		}
		if k < n-1 && p.IntN(3) == 0 {
			left := n - k - 1
			entries = append(entries, b.run("npx tsc --noEmit", fmt.Sprintf("Found %d errors in %d files.\n\nErrors  Files\n     %d  %s", left*2+1, left+1, left*2+1, b.screen(strings.ToLower(screens[k+1]))), min(left, 1)).after(thought{"", "Let me check the types so far."}))
		}
		last = name
	}
	return entries, 0
}

// analyzerFindingsFallToZero replaces deprecated calls file by file; the analyzer reports fewer after each, and none in the end.
func analyzerFindingsFallToZero(p *generator) (entries []entry, _ int) {
	b := p.blockEditor()
	files := p.shuffled("lib/theme.dart", "lib/home/home_page.dart", "lib/cart/cart_tile.dart", "lib/auth/login_form.dart", "lib/widgets/avatar.dart", "lib/settings/dark_mode.dart")[:p.between(3, 5)]
	calls := [][2]string{{"color.withOpacity(0.5)", "color.withValues(alpha: 0.5)"}, {"WillPopScope(", "PopScope("}, {"MaterialStateProperty.all(x)", "WidgetStateProperty.all(x)"}}
	old := calls[p.IntN(len(calls))]
	report := func(files []string) string {
		if len(files) == 0 {
			return fmt.Sprintf("Analyzing app...\nNo issues found! (ran in %d.%ds)", p.between(1, 9), p.IntN(10))
		}
		lines := make([]string, len(files))
		for k, file := range files {
			lines[k] = fmt.Sprintf("   info • '%s' is deprecated and shouldn't be used • %s:%d:%d • deprecated_member_use", strings.SplitN(old[0], "(", 2)[0], file, p.between(9, 200), p.between(3, 40))
		}
		return fmt.Sprintf("Analyzing app...\n\n%s\n\n%d issues found. (ran in %d.%ds)", strings.Join(lines, "\n"), len(files), p.between(1, 9), p.IntN(10))
	}
	entries = append(entries, b.run("flutter analyze", report(files), 1).after(thought{"", "Let me see what the analyzer reports."}))
	for k, file := range files {
		entries = append(entries, b.replace(file, p.between(9, 200), "      "+old[0], "      "+old[1]).after(thought{p.pick("", fmt.Sprintf("%d left.", len(files)-k)), p.pick("Now "+file+".", "Let me replace the call in "+file+".", "The next is "+file+".")}))
		entries = append(entries, b.run("flutter analyze", report(files[k+1:]), min(len(files)-k-1, 1)).after(p.runAgain()))
	}
	return entries, 0
}

// uploadedBuildProcessedAtLast asks for the state of an uploaded build until the store has processed it.
func uploadedBuildProcessedAtLast(p *generator) (entries []entry, _ int) {
	b, number, id := p.blockEditor(), p.between(300, 4000), p.uuid()
	elapsed := p.between(20, 90)
	w := wording{
		[]string{"The build is uploaded. Let me see whether the store has processed it."},
		[]string{"Still processing.", "Not yet.", "It takes up to half an hour.", ""},
		[]string{"I'll check again in two minutes.", "Let me wait and look again.", "Checking once more."},
	}
	command := fmt.Sprintf("sleep 120; asc builds get --id %s --output table", id)
	for k := range p.between(4, 8) {
		entries = append(entries, b.run(command, fmt.Sprintf("build  version  processingState  age\n%d    3.%d.0    PROCESSING       %dm%02ds", number, number%9, elapsed/60, elapsed%60), 0).after(w.of(p, k)))
		elapsed += p.between(121, 128)
	}
	entries = append(entries, b.run(command, fmt.Sprintf("build  version  processingState  age\n%d    3.%d.0    VALID            %dm%02ds", number, number%9, elapsed/60, elapsed%60), 0).after(w.of(p, 1)))
	return append(entries, b.run(fmt.Sprintf("asc testflight add-build --group beta --build %d", number), fmt.Sprintf("Build %d is available to 1 group (%d testers)", number, p.between(4, 90)), 0).after(thought{"It is processed.", "Let me give it to the testers."})), 0
}

// refusedBlocksMadeAfterFreshRead edits one file after the other, each of which a formatter has changed. The first edit of a file is refused. The
// agent reads the file and makes the edit.
func refusedBlocksMadeAfterFreshRead(p *generator) (entries []entry, _ int) {
	b, last := p.blockEditor(), ""
	for k, name := range p.shuffled("banner", "footer", "avatar", "badge", "slider", "modal")[:p.between(3, 4)] {
		path := "src/components/" + capitalized(name) + ".tsx"
		there, after, line := p.code(2), p.code(3), p.between(5, 120)
		t := p.nextItem(last, path)
		if k == 0 || p.IntN(3) > 0 {
			entries = append(entries, b.refuse(path, line, strings.ReplaceAll(there, "  ", "\t"), after, there).after(t),
				b.read(path, p.code(2)+"\n"+there+"\n"+p.code(2)).after(thought{p.pick("The formatter has changed it.", "The indentation differs.", "It does not match."), "Let me read it as it is now."}))
			t = thought{"", p.pick("Now with the real text.", "This block is exact.", "")}
		}
		entries = append(entries, b.replace(path, line, there, after).after(t))
		last = name
	}
	return append(entries, b.run("npx jest src/components", fmt.Sprintf("Tests:       %d passed, %d total\nTime:        %d.%03d s", 41, 41, p.between(2, 20), p.IntN(1000)), 0).after(p.runAgain())), 0
}
