// Views that the reader has saved: a name and a query of the list of runs. The browser keeps them.
const place = "unloop-views";

export interface View {
  name: string;
  query: string;
}

function stored(): View[] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(place) ?? "[]");
    return Array.isArray(all) ? all.filter((v): v is View => typeof v?.name === "string" && typeof v?.query === "string").slice(0, 20) : [];
  } catch {
    return []; // storage is switched off, or holds something else
  }
}

class Views {
  saved = $state.raw<View[]>(stored());

  save(name: string, query: string): void {
    this.set([...this.saved.filter((v) => v.name !== name), { name, query }]);
  }

  remove(name: string): void {
    this.set(this.saved.filter((v) => v.name !== name));
  }

  private set(views: View[]): void {
    this.saved = views;
    try {
      localStorage.setItem(place, JSON.stringify(views));
    } catch {
      // they last until the page is closed
    }
  }
}

export const saved = new Views();
