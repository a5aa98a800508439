// The start screen: a new model, the files of the folder, and all examples with their pictures.
import { useState } from "react";
import type { ModelCard } from "./protocol";
import { store, useStudio } from "./store";
import { ThemeButton } from "./toolbar";

export function Gallery() {
  const { hello } = useStudio();
  const [sought, setSought] = useState("");
  const fits = (card: ModelCard) => `${card.file} ${card.title} ${card.about}`.toLowerCase().includes(sought.toLowerCase().trim());
  return (
    <div className="gallery">
      <header>
        <h1>Tellegen <span>studio</span></h1>
        <input
          type="search" placeholder="Search models and examples" aria-label="Search models and examples" value={sought}
          onChange={(event) => setSought(event.target.value)} data-testid="search"
        />
        <ThemeButton />
      </header>
      <main>
        <div className="begin">
          <button type="button" className="main" onClick={() => store.create("network")} data-testid="new-network">New network</button>
          <button type="button" onClick={() => store.create("bond graph")} data-testid="new-bond">New bond graph</button>
          <p>A model is a text file of the folder <b>{hello?.folder}</b>. Figures, equations and curves follow it, and each edit of a figure is an edit of the text.</p>
        </div>
        <Cards title="Your models" cards={(hello?.files ?? []).filter(fits)} />
        <Cards title="Examples" cards={(hello?.examples ?? []).filter(fits)} />
        {!hello && <p className="waiting">Opening …</p>}
      </main>
    </div>
  );
}

function Cards({ title, cards }: { title: string; cards: ModelCard[] }) {
  const { theme } = useStudio();
  if (!cards.length) return null;
  return (
    <section>
      <h2>{title}</h2>
      <ul className="cards">
        {cards.map((card) => (
          <li key={card.file}>
            <button type="button" onClick={() => store.open(card.file)} data-testid={`open-${card.file}`}>
              <span className="thumb">
                <img
                  loading="lazy" alt="" src={`/picture/${encodeURIComponent(card.file)}?theme=${theme}`}
                  onError={(event) => event.currentTarget.classList.add("missing")}
                />
              </span>
              <b>{card.title}</b>
              <span className="about">{card.about || card.file}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
